/** Each exit code is reached, and a failure says what is known, in words or as one JSON line. */
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createInterruption } from "../../src/run.ts";
import { errorBody, json, startSandbox, startService } from "../kit.ts";
import { done, ends, refused, spawnEcm, temporaryFolder, toWords, waitForResult } from "../support/ecm.ts";

type Answer = [status: number, body: unknown, headers?: Record<string, string>];

const read = "structure list";
const write = "contact create --data -";
const stdin = '{"key":"ada@example.com"}';

const refusal = (status: number, type: string, more = {}): Answer => [status, errorBody(type, "no", more)];
const quotaExceeded = errorBody("TooManyRequestsError", "Monthly API quota exceeded.");
const quota: Answer = [429, quotaExceeded, { "retry-after": "86400" }];
const inField = { field: "fields", fieldId: "f1" };
const notApplied = { type: "ValidationError", status: 400, applied: "no", retryable: false };

const answering = ([status, body, headers]: Answer) =>
  startService((_request, response) => json(response, status, body, headers));

describe("a failure", () => {
  it.each<[string, Answer, string, number, Record<string, unknown>]>([
    ["of the service", refusal(500, "InternalServerError"), read, 1, { status: 500, retryable: true }],
    ["of a write", refusal(503, "X"), write, 1, { status: 503, applied: "unknown" }],
    ["of validation", refusal(400, "ValidationError", inField), write, 1, { ...inField, ...notApplied }],
    ["of an answer that cannot be read", [200, "x"], write, 1, { status: 200, applied: "yes" }],
    ["401", refusal(401, "UnauthorizedError"), read, 4, { status: 401, retryable: false }],
    ["403", refusal(403, "ForbiddenError"), write, 4, { status: 403, applied: "no" }],
    ["404", refusal(404, "RecordNotFound"), "api GET /x", 5, { status: 404 }],
    ["of a duplicate", refusal(400, "DuplicateFieldError", { field: "key" }), write, 6, { field: "key" }],
    ["of a version", refusal(400, "ConcurrencyError"), write, 6, { type: "ConcurrencyError" }],
    ["429", quota, write, 7, { status: 429, retryAfterSeconds: 86_400, applied: "no", retryable: true }],
  ])("%s", async (_name, answer, line, exitCode, members) => {
    const { server, ecm } = await answering(answer);
    const { error } = JSON.parse((await ends(ecm(`${line} --json`, { stdin }), exitCode)).stderr);
    expect(server.requests).toHaveLength(1);
    const known = { exitCode, message: expect.any(String), retryable: expect.any(Boolean) };
    expect(error).toMatchObject({ ...known, ...members });
    const plain = await ecm(`${line} -o csv`, { stdin });
    const hint = error.hint === undefined ? "" : `hint: ${error.hint}\n`;
    expect(plain).toMatchObject({ code: exitCode, stderr: `error: ${error.message}\n${hint}` });
  });

  it("to reach anything is 8, and says of a write whether it may have been applied", async () => {
    const { server: lost, ecm } = await startService((_request, response) => response.socket!.destroy());
    await refused(ecm(read), 8);
    expect(lost.requests).toHaveLength(3);
    const message = expect.stringContaining("may have been applied");
    const { error } = JSON.parse(await refused(ecm(`${write} --json`, { stdin }), 8));
    expect(error).toMatchObject({ message, applied: "unknown", retryable: true });
    expect(lost.requests).toHaveLength(4);
  });

  it("to find a contact by its id carries the service's own status", async () => {
    const { ecm } = await startSandbox();
    const { error } = JSON.parse(await refused(ecm(`contact get ${"0".repeat(24)} --json -q`), 5));
    expect(error).toMatchObject({ type: "RecordNotFound", status: 404, exitCode: 5 });
  });

  it("because nobody can be asked is 2, whether forbidden or without a terminal", async () => {
    const { ecm } = await startSandbox();
    for (const [flags, options] of [
      ["", {}],
      ["--no-input", { terminalColumns: 80 }],
      ["", { terminalColumns: 80, env: { ECM_NO_INPUT: "1" } }],
    ] as const)
      await refused(ecm(`structure field remove 'First Name' ${flags}`, options), 2, "--yes");
    expect(await done(ecm("structure pull"))).toContain("First Name");
  });
});

it.each([
  "import FILE",
  "contact create --data FILE",
  "api POST /api/x --data FILE",
  "contact mutate --keys FILE --set City=x",
  "suppressions add --keys FILE",
  "lists sync News FILE",
  "structure apply FILE",
])("a path that cannot be is 2, and nothing is sent: ecm %s", async (line) => {
  const { ecm, server } = await answering([500, "x"]);
  const folder = await temporaryFolder();
  await writeFile(join(folder, "plain"), "x");
  await symlink("loop", join(folder, "loop"));
  for (const file of ["plain/x", "loop", "n".repeat(300)])
    await refused(ecm(`${line.replace("FILE", join(folder, file))} --yes`), 2, file);
  expect(server.requests).toEqual([]);
});

it.each<["SIGINT" | "SIGTERM", number]>([
  ["SIGINT", 130],
  ["SIGTERM", 143],
])("%s ends with %i, and says that the write under way may have been applied", async (signal, exitCode) => {
  // Killed when its request has arrived.
  const { env } = await startService(() => child.kill(signal));
  const child = spawnEcm([...toWords(write), "--json"], env);
  child.stdin!.end(stdin);
  const { error } = JSON.parse(await refused(waitForResult(child), exitCode));
  expect(error).toMatchObject({ type: "InterruptedError", exitCode, applied: "unknown" });
});

it("an interruption before the first write says that nothing was written, and how to go on", async () => {
  const interruption = new AbortController();
  const { ecm } = await startService(() => interruption.abort(createInterruption("SIGINT")));
  const { signal } = interruption;
  const interrupted = ecm("import - --yes", { stdin: "Email\na@x.org\n", signal });
  await ends(interrupted, 130, "Interrupted\nhint: Nothing was written. Run the same command again\n");
});

it("a wait for the hour is said on stderr, never longer than --max-wait, and not at all with --quiet", async () => {
  const busy = errorBody("TooManyRequestsError", "Rate limit exceeded. Retry after 1 seconds.");
  const { server, ecm } = await startService((_request, response, count) =>
    count % 2 === 1 ? json(response, 429, busy, { "retry-after": "1" }) : json(response, 200, []),
  );
  expect(await ecm(read)).toMatchObject({ code: 0, stderr: "Waiting 1 s: hourly limit reached\n" });
  expect(await ecm(`${read} -q`)).toMatchObject({ code: 0, stderr: "" });
  expect((await ecm(`${read} --max-wait 0.5`)).code).toBe(7);
  expect(server.requests).toHaveLength(5);
});

it("a wait for the hour is offered where it ends within the hour, and never as one of no seconds", async () => {
  const answer = { seconds: "0" };
  const busy = errorBody("TooManyRequestsError", "Rate limit exceeded.");
  const { ecm } = await startService((_request, response) =>
    json(response, 429, busy, { "retry-after": answer.seconds }),
  );
  expect(await refused(ecm(`${read} --max-wait 0`), 7)).toContain("with --max-wait 1\n");
  answer.seconds = "1794114491919";
  expect(await refused(ecm(`${read} --max-wait 0`), 7)).not.toContain("--max-wait");
});
