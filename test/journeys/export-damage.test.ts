/** Exports into a file that are stopped, damaged, or started twice: the file is whole, or not there. */
import { chmod, mkdir, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { InterruptedError } from "../../src/errors.ts";
import { type Result, temporaryFolder } from "../support/ecm.ts";
import { errorBody, json } from "../support/http-server.ts";
import { plainStructure, startService } from "../support/service.ts";

/** An account of twelve contacts whose service gives three at a time. */
async function smallPages() {
  const everybody = Array.from({ length: 12 }, (_, index) => ({ _id: `c${index}`, key: `p${index}@x.org` }));
  const scene = { onSearch: async (_page: number): Promise<void> => undefined };
  const { env, ecm } = await startService((request, response) => {
    if (request.method === "GET") {
      return json(response, 200, request.url.includes("/lists") ? [] : [plainStructure]);
    }
    const { page, pageSize } = JSON.parse(request.body) as { page: number; pageSize: number };
    if (pageSize > 3)
      return json(response, 400, errorBody("ValidationError", "too many", { field: "pageSize" }));
    const contacts = everybody.slice((page - 1) * pageSize, page * pageSize);
    void scene.onSearch(page).then(() => json(response, 200, { totalRecords: everybody.length, contacts }));
  });
  return Object.assign(scene, { env, ecm });
}

/** An export that was interrupted while it read its third page. */
async function stoppedExport(name = "contacts.csv") {
  const service = await smallPages();
  const { env, ecm } = service;
  const whole = (await ecm(["export", "--columns", "key"])).stdout;
  const file = join(await temporaryFolder(), name);
  const args = ["export", "--columns", "key", "--output-file", file];
  const interruption = new AbortController();
  service.onSearch = async (page) => {
    if (page === 3) interruption.abort(new InterruptedError());
  };
  expect((await ecm(args, { signal: interruption.signal })).code).toBe(130);
  service.onSearch = async () => undefined;
  const exportsFolder = join(env.ECM_STATE_DIR!, "exports");
  const home = join(exportsFolder, (await readdir(exportsFolder))[0]!);
  return { ecm, env, args, file, whole, part: join(home, "part"), journal: join(home, "journal") };
}

describe("an export that is resumed", () => {
  it.each([
    ["part file is gone", ({ part }: { part: string }) => rm(part)],
    ["part file is short", ({ part }: { part: string }) => truncate(part, 20)],
    [
      "part file has a wrong byte",
      async ({ part }: { part: string }) =>
        writeFile(part, (await readFile(part, "utf8")).replace("p4@", "p?@")),
    ],
    [
      "journal has a wrong byte",
      async ({ journal }: { journal: string }) =>
        writeFile(journal, (await readFile(journal, "utf8")).replace('"page":3,', '"page":4,')),
    ],
  ])("is read again, and says so, where its %s", { tags: "slow" }, async (_what, damage) => {
    const scene = await stoppedExport();
    await damage(scene);
    const { code, stderr } = await scene.ecm(scene.args);
    expect(code).toBe(0);
    expect(stderr).toContain("damaged or missing");
    expect(await readFile(scene.file, "utf8")).toBe(scene.whole);
  });

  it("goes on where it stopped, its journal's last line torn or not", { tags: "slow" }, async () => {
    for (const torn of ["", '0000 {"page'] as const) {
      const { ecm, args, file, whole, journal } = await stoppedExport();
      await writeFile(journal, (await readFile(journal, "utf8")) + torn);
      const { code, stderr } = await ecm(args);
      expect(code).toBe(0);
      expect(stderr).toContain("Resuming at page 3");
      expect(stderr).not.toContain("damaged");
      expect(await readFile(file, "utf8")).toBe(whole);
    }
  });

  it("is a new one when it was killed after its file was put in place", { tags: "slow" }, async () => {
    const { ecm, args, file, whole, part, journal } = await stoppedExport();
    const filesBefore = [await readFile(part), await readFile(journal)] as const;
    expect((await ecm(args)).code).toBe(0);
    await mkdir(join(part, ".."));
    await writeFile(journal, filesBefore[1]);
    await writeFile(part, whole);
    await writeFile(file, whole);
    const { stderr } = await ecm(args);
    expect(stderr).not.toContain("Resuming");
    expect(await readFile(file, "utf8")).toBe(whole);
  });
});

describe("a compressed export", () => {
  const unpacked = async (file: string) => gunzipSync(await readFile(file)).toString();

  it("goes on where it stopped, and is a new one when it was killed once it was in its place", {
    tags: "slow",
  }, async () => {
    const { ecm, args, file, whole, part, journal } = await stoppedExport("contacts.csv.gz");
    const filesBefore = [await readFile(part), await readFile(journal)] as const;
    expect(await readdir(dirname(file))).toEqual([]);
    expect((await ecm(args)).stderr).toContain("Resuming at page 3");
    expect(await unpacked(file)).toBe(whole);
    await mkdir(dirname(part));
    await writeFile(part, filesBefore[0]);
    await writeFile(journal, filesBefore[1]);
    const packed = await readFile(file);
    await writeFile(file, packed);
    expect((await ecm(args)).stderr).not.toContain("Resuming");
    expect(await unpacked(file)).toBe(whole);
  });
});

it("an export into a file that another process exports into is refused", async () => {
  const service = await smallPages();
  const file = join(await temporaryFolder(), "contacts");
  const refused: Result[] = [];
  service.onSearch = async () => {
    service.onSearch = async () => undefined;
    refused.push(await service.ecm(["export", "--output-file", file, "-o", "ndjson"]));
  };
  expect((await service.ecm(["export", "--output-file", file])).code).toBe(0);
  expect(refused.map(({ code }) => code)).toEqual([6]);
  expect(refused[0]!.stderr).toContain(`the export into ${file} is in use by process`);
});

it.runIf(process.platform !== "win32")(
  "a file of people's data is its owner's, unless it has other rights",
  async () => {
    const { ecm } = await smallPages();
    const folder = await temporaryFolder();
    const before = process.umask(0);
    try {
      for (const args of [["export"], ["lists", "list"]]) {
        const file = join(folder, args[0]!);
        expect((await ecm([...args, "--output-file", file])).code).toBe(0);
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        await chmod(file, 0o644);
        expect((await ecm([...args, "--output-file", file])).code).toBe(0);
        expect((await stat(file)).mode & 0o777).toBe(0o644);
      }
    } finally {
      process.umask(before);
    }
  },
);
