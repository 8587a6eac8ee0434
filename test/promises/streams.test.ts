/** Streams and formats: stdout carries data only, objects come untouched, a terminal is never moved. */
import { describe, expect, it } from "vitest";
import { done, ends, json, readJson, refused, spawnEcm, startSandbox, waitForResult } from "../kit.ts";
import { plainStructure, startService } from "../support/service.ts";

const answering = (body: unknown) => startService((_request, response) => json(response, 200, body));

describe("formats", () => {
  it("give the service's own objects in json and ndjson, unknown members and their order kept", async () => {
    const odd = { zeta: { b: [null, 1.5], a: "ü" }, ...plainStructure, alpha: false };
    const { ecm } = await answering([odd]);
    expect(JSON.stringify(await readJson(ecm, "structure list"))).toBe(JSON.stringify([odd]));
    expect(await done(ecm("structure list -o ndjson"))).toBe(`${JSON.stringify(odd)}\n`);
    expect(JSON.stringify(await readJson(ecm, "structure get"))).toBe(JSON.stringify(odd));
  });

  it("give [] for no objects, a header for no rows, nothing for no ids", async () => {
    const { ecm } = await startSandbox();
    for (const line of ["contact search", "contact search --all", "lists list", "export"]) {
      expect((await ecm(`${line} --json`)).stdout).toBe("[]\n");
      expect((await ecm(`${line} -o ndjson`)).stdout).toBe("");
      expect((await ecm(`${line} -o id`)).stdout).toBe("");
      expect((await ecm(`${line} -o tsv`)).stdout.split("\n")).toHaveLength(2);
    }
  });

  it("mean json for results and failures alike with --json, wherever it stands, and never two at once", async () => {
    const { ecm } = await startSandbox();
    const listed = await ecm("lists list --json -o json", { env: { ECM_OUTPUT: "csv" } });
    expect(JSON.parse(listed.stdout)).toEqual([]);
    for (const line of [
      "lists list --json -o csv",
      "-o ndjson lists list --json",
      "lists list --json -o csv --nope",
      "lists list --nope -qo ndjson",
      "-ojson lists list --nope",
      "--output=json frobnicate",
    ]) {
      const { error } = JSON.parse(await refused(ecm(line), 2));
      expect(error).toMatchObject({ type: "UsageError", exitCode: 2 });
    }
    await refused(ecm("lists list --json -o yaml"), 2);
  });

  it("refuse an answer that is none of the service's objects, in words", async () => {
    for (const body of [{}, null, [null], [{ _id: "x", label: "L" }], ["x"]]) {
      const { ecm } = await answering(body);
      for (const line of ["structure list", "structure get", "export"])
        await refused(ecm(line), 1, /^error: The answer is not a list of contact structures/m);
    }
  });
});

it("colour is for terminals, unless flags and variables say otherwise", async () => {
  const { ecm } = await startSandbox();
  const rows: [Record<string, string>, flags: string, columns: number | undefined, isColored: boolean][] = [
    [{}, "", 80, true],
    [{}, "", undefined, false],
    [{ NO_COLOR: "1" }, "", 80, false],
    [{ NO_COLOR: "" }, "", 80, true],
    [{}, "--no-color", 80, false],
    [{ FORCE_COLOR: "1" }, "", undefined, true],
    [{ FORCE_COLOR: "0" }, "", 80, false],
    [{ FORCE_COLOR: "1" }, "--no-color", undefined, false],
    [{ FORCE_COLOR: "1", NO_COLOR: "1" }, "", 80, false],
    [{ TERM: "dumb" }, "", 80, false],
  ];
  for (const [env, flags, terminalColumns, isColored] of rows) {
    const stdout = await done(ecm(`structure list -o table ${flags}`, { env, terminalColumns }));
    const what = `${JSON.stringify(env)} ${flags} on ${terminalColumns} columns`;
    expect(stdout.includes("\u001b["), what).toBe(isColored);
  }
});

it.each(["export", "commands --json", "completion bash"])("a reader may go away: `%s`", async (line) => {
  const { env } = await startSandbox({ contents: { lists: ["Newsletter"] } });
  const child = spawnEcm([...line.split(" "), "--quiet"], env);
  child.stdout!.destroy();
  expect((await ends(waitForResult(child), 0)).stderr).toBe("");
});
