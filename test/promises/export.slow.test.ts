/** An export: every contact once, in a file that imports again without a mapping and without a change. */
import { EventEmitter, once } from "node:events";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorBody, json, plainStructure, startHttpServer, startSandbox, summaryOf } from "../kit.ts";
import { done, ends, readJson, spawnEcm, temporaryFolder, waitForResult } from "../support/ecm.ts";

const values = [
  ...["line\nbreak", "cr\rlf\r\nx", 'q"uote', "a,b;c\td|e", "'lead", "''two", "=1+1", "+1"],
  ...["-1", "@x", "\ttab", "😀👩‍👩‍👧", "\u200fעברית", "  spaces  ", " =1+1", "\uff1d1+1"],
  ...["\\n\\t", "\ufeffmark", "e\u0301", "NULL", "N/A", '""', "001", "1,5"],
];
const labels = [
  ...["key", "lists", "tags", "status", "ecm:key", "Email", 'City, "big"', "a=b", "'tick", "=sum"],
  "ecm:safe-cells",
];
/** Keys that an import of any other file would not take. */
const oddKeys: Record<number, string> = {
  2: '"quoted"@example.com',
  3: "ünï@example.com",
  4: "a@b.c",
  7: "CAPS@Example.com",
  8: "=eq@example.com",
};
const names = ["a,b", 'c"d', "t;semi", "t|pipe", "'tick", "=tag", "名簿", "with\nline"];

function hostileAccount() {
  const some = (index: number) => names.filter((_, at) => (index + at) % 3 === 0);
  const contacts = values.map((value, index) => ({
    key: oddKeys[index] ?? `h${index}@example.com`,
    fields: Object.fromEntries(labels.filter((_, at) => (index + at) % 2).map((label) => [label, value])),
    tags: some(index),
    lists: some(index),
    ...(index % 5 === 0 && { status: "Unsubscribe" as const }),
  }));
  const contents = { fields: labels, tags: names, lists: names, contacts };
  return startSandbox({ hourlyLimit: 100_000, contents });
}

describe("an export", () => {
  it.each([
    ["contacts.xlsx", ""],
    ["contacts.csv", ""],
    ["contacts.csv", "--bom"],
    ["contacts.csv", "--safe-cells"],
    ["contacts.csv", "--safe-cells --bom"],
    ["contacts.tsv", ""],
  ])("of hostile values and names as %s with %j imports again without a change", async (name, flags) => {
    const { ecm } = await hostileAccount();
    const file = join(await temporaryFolder(), name);
    await done(ecm(`export ${flags} --output-file ${file}`));
    const { length } = values;
    expect(await readJson(ecm, `import ${file}`)).toMatchObject({
      status: "completed",
      rows: { read: length, unchanged: length, rejected: 0 },
      requests: { create: 0, mutate: 0 },
    });
  });

  it("of lists whose names are alike imports again without a change", async () => {
    const { ecm } = await startSandbox();
    for (const name of ["News", "News ", "Twin", "Twin", "News\u00a0"]) {
      const { _id } = await readJson(ecm, ["lists", "create", name, "--allow-duplicate"]);
      await done(ecm(`contact create --key ${_id}@example.com --list ${_id}`));
    }
    const file = join(await temporaryFolder(), "contacts.csv");
    await done(ecm(`export --output-file ${file}`));
    const none = { rows: { read: 5, unchanged: 5 }, requests: { create: 0, mutate: 0 } };
    expect(await readJson(ecm, `import ${file}`)).toMatchObject(none);
  });

  it("can hold keys that no import creates: they are rejected where the account does not have them", async () => {
    const [{ ecm }, other] = [await hostileAccount(), await startSandbox()];
    const file = join(await temporaryFolder(), "contacts.csv");
    const odd = Object.values(oddKeys).flatMap((key) => ["--key", key]);
    await done(ecm(["export", "--columns", "ecm:key,ecm:status", ...odd, "--output-file", file]));
    const elsewhere = await summaryOf(other.ecm, `import ${file} --include-unsubscribed`);
    expect(elsewhere).toMatchObject({ code: 3, rows: { read: 5, created: 2, rejected: 3 } });
    const why = "quotes in the address (1), accented letters before the @ (1), invalid email address (1)";
    expect(elsewhere.stderr).toContain(why);
  });

  it("is csv wherever it goes, and guards what a spreadsheet would run in cells and header", async () => {
    const { ecm } = await hostileAccount();
    const plain = await done(ecm("export"));
    expect((await ecm("export", { terminalColumns: 80 })).stdout).toBe(plain);
    const safe = await done(ecm(`export --safe-cells --columns "ecm:key,=sum,'tick" --key h6@example.com`));
    expect(safe).toMatch(/^ecm:key,'=sum,''tick,ecm:safe-cells\nh6@example.com,.*'=1\+1/);
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("ended by %s starts anew, whole or not at all", async (signal) => {
    const bare = { fields: [], lists: [], tags: [], status: { primary: "Active" } };
    const toContact = (n: number) => ({ _id: `id${n}`, key: `k${n}@example.com`, ...bare });
    const everybody: Record<string, unknown>[] = Array.from({ length: 11 }, (_, n) => toContact(n));
    const tooMany = errorBody("ValidationError", "too many", { field: "pageSize" });
    const pages: number[] = [];
    const hanging = new EventEmitter();
    let hangs = true;
    const isHanging = once(hanging, "page");
    const server = await startHttpServer((request, response) => {
      if (request.method === "GET") {
        return json(response, 200, request.url.includes("/lists") ? [] : [plainStructure]);
      }
      const { page, pageSize } = JSON.parse(request.body) as { page: number; pageSize: number };
      if (pageSize > 3) return json(response, 400, tooMany);
      pages.push(page);
      if (page === 3 && hangs) return hanging.emit("page");
      const contacts = everybody.slice((page - 1) * pageSize, page * pageSize);
      json(response, 200, { totalRecords: everybody.length, contacts });
    });
    const { env, ecm } = await startSandbox();
    const folder = await temporaryFolder();
    await mkdir(join(folder, "out"));
    const file = join(folder, "out", "contacts.csv");
    await writeFile(file, "key,status\nbefore,active\n");
    const args = ["export", "--output-file", file, "--columns", "key,status"];
    const first = spawnEcm(args, { ...env, ECM_BASE_URL: server.baseUrl });
    const ended = waitForResult(first);
    await isHanging;
    first.kill(signal);
    await ends(ended, signal === "SIGKILL" ? -1 : 143);
    expect(await readFile(file, "utf8")).toBe("key,status\nbefore,active\n");
    // Killed, it could not remove what it had begun, which is its owner's alone.
    const left = (await readdir(join(folder, "out"))).filter((name) => name !== "contacts.csv");
    expect(left).toEqual(signal === "SIGKILL" ? [expect.stringMatching(/^\.contacts\.csv\..*\.tmp$/)] : []);
    for (const name of left) expect((await stat(join(folder, "out", name))).mode & 0o777).toBe(0o600);

    // Of those on pages that were read, one is gone and one has another status.
    everybody.splice(1, 1);
    everybody[0]!.status = { primary: "Inactive", secondary: "Unsubscribe" };
    hangs = false;
    pages.length = 0;
    await done(ecm(args, { env: { ECM_BASE_URL: server.baseUrl } }));
    // Two on each.
    expect(pages).toEqual([1, 2, 3, 4, 5]);
    const rows = everybody.map(({ key }, index) => `${key},${index === 0 ? "Inactive" : "Active"}\n`);
    expect(await readFile(file, "utf8")).toBe(`key,status\n${rows.join("")}`);
  });
});
