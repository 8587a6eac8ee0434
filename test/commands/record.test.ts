/** ECM_RECORD, and `ecm record show`. */
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RecordedExchange } from "../../src/recording/exchange.ts";
import { inputFile } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const people = `Email,First Name,City
ada@lovelace.test,Ada Augusta,Oslo-Marker
grace@hopper.test,Active,Inactive
`;

async function recorded() {
  const service = await startSandbox({
    contents: {
      fields: ["City"],
      tags: ["Guild-Marker"],
      lists: ["News-Marker"],
      contacts: [{ key: "Bob@builder.test", fields: { City: "Rome-Marker" }, tags: ["Guild-Marker"] }],
    },
  });
  const file = join(await temporaryFolder(), "service.ndjson");
  const record = (words: string[]) => service.ecm(words, { env: { ECM_RECORD: file } });
  const exchanges = async (): Promise<RecordedExchange[]> =>
    (await readFile(file, "utf8"))
      .split("\n")
      .slice(1, -1)
      .map((line) => JSON.parse(line));
  return { ...service, file, record, exchanges };
}

it("commands append what they exchange, and nothing in it is the account's", { tags: "slow" }, async () => {
  const { ecm, record, exchanges, file, apiKey, baseUrl, sandbox } = await recorded();
  const imported = await record(["import", await inputFile(people), "--list", "News-Marker", "-y"]);
  expect(imported.code, imported.stderr).toBe(0);
  expect(imported.stderr).toMatch(/Recorded \d+ exchanges in .*look at it with: ecm record show/);
  expect((await record(["contact", "get", "ada@lovelace.test"])).code).toBe(0);
  expect((await record(["contact", "get", "nobody@nowhere.test"])).code).toBe(5);
  expect((await record(["contact", "create", "--key", "ada@lovelace.test"])).code).toBe(6);
  expect((await record(["api", "GET", "/api/contact/ada@lovelace.test?x=Rome-Marker"])).code).toBe(5);
  expect((await record(["export", "--output-file", join(await temporaryFolder(), "all.csv")])).code).toBe(0);
  const log = sandbox.admin.requests().filter(({ path }) => path.startsWith("/api/"));
  expect((await exchanges()).map(({ method, status }) => [method, status])).toEqual(
    log.map(({ method, status }) => [method, status]),
  );
  const text = await readFile(file, "utf8");
  const ids = log.flatMap(({ answer }) => JSON.stringify(answer).match(/[0-9a-f]{24}/g) ?? []);
  for (const secret of [
    ...["lovelace", "hopper", "builder", "nowhere", "Augusta", "Marker", "First Name", apiKey],
    ...[new URL(baseUrl).host, "127.0.0.1", ...ids],
  ]) {
    expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
  }
  // A status word that is somebody's name is not kept for one.
  const create = (await exchanges()).filter(
    ({ path, method }) => method === "POST" && path === "/api/contact",
  );
  expect(JSON.stringify(create.map(({ body }) => body))).not.toMatch(/Active|Inactive/i);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  // Without the variable nothing is recorded.
  const { size } = await stat(file);
  await ecm(["lists", "list"]);
  expect((await stat(file)).size).toBe(size);
});

it("the same person has the same pseudonym in every command, and another one in another file", async () => {
  const { record, exchanges, ecm } = await recorded();
  const findKey = (all: RecordedExchange[]) =>
    JSON.stringify(all.findLast(({ path }) => path === "/api/contact/search")?.body).match(
      /person-\w+@example\.com/i,
    )?.[0];
  const get = ["contact", "get", "bob@builder.test"];
  await record(get);
  const first = findKey(await exchanges());
  await record(get);
  expect(first).toBeDefined();
  expect(findKey(await exchanges())).toBe(first);
  const other = join(await temporaryFolder(), "other.ndjson");
  await ecm(get, { env: { ECM_RECORD: other } });
  expect(await readFile(other, "utf8")).not.toContain(first);
});

it("record show prints the exchanges", { tags: "slow" }, async () => {
  const { record, ecm, file, exchanges } = await recorded();
  await record(["contact", "search", "--key", "bob@builder.test", "--json"]);
  await appendFile(file, '{"method":"GET","pa');
  await Promise.all([record(["lists", "list"]), record(["contact", "get", "nobody@nowhere.test"])]);
  const shown = await ecm(["record", "show", file]);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/^n\tmethod\tpath\tstatus\terror\tsent\tanswered$/m);
  expect(shown.stdout).toMatch(
    /POST\t\/api\/contact\/search\t200\t\tcontactStructureId, page, pageSize, source, contactSpecification\ttotalRecords, contacts$/m,
  );
  expect(shown.stderr).toContain("1 line cannot be read");
  const lines = JSON.parse((await ecm(["record", "show", file, "--json"])).stdout);
  const whole = (await readFile(file, "utf8")).split("\n").filter((line) => line.startsWith('{"method"'));
  expect(lines).toHaveLength(whole.length - 1);
  expect(lines[0]).toEqual({ n: 1, ...JSON.parse(whole[0]!) });
  expect(exchanges).toBeDefined();
});

it("a file that two commands began at the same moment is whole", async () => {
  const { record, ecm, file } = await recorded();
  await record(["lists", "list"]);
  const [head, exchange] = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, `${head}\n${head!.replace(/[0-9a-f]{16}/, "0".repeat(16))}\n${exchange}\n`);
  const { stdout, stderr } = await ecm(["record", "show", file, "--json"]);
  expect(JSON.parse(stdout)).toHaveLength(1);
  expect(stderr).not.toContain("cannot be read");
});

it("a file that is no recording is refused before a request, and so is a place that cannot be written", async () => {
  const { ecm, sandbox } = await recorded();
  const folder = await temporaryFolder();
  const file = join(folder, "notes.txt");
  await writeFile(file, "ada@lovelace.test\n");
  for (const [target, reason] of [
    [file, "is no recording"],
    [folder, "EISDIR"],
    [join(folder, "none", "x"), "ENOENT"],
    ["/dev/null", "it is no file"],
  ] as const) {
    const { code, stderr } = await ecm(["lists", "list"], { env: { ECM_RECORD: target } });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
  }
  expect(await readFile(file, "utf8")).toBe("ada@lovelace.test\n");
  expect(sandbox.admin.requests()).toEqual([]);
  expect((await ecm(["record", "show", file])).code).toBe(2);
  expect((await ecm(["record", "show", join(folder, "none")])).code).toBe(2);
});
