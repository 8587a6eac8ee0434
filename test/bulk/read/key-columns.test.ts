/** Several columns of the key: the first that has a value counts, and a mark is of all of them. */
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../support/sandbox.ts";
import { inputFile, parseSummary, readContacts } from "../kit.ts";
import { read } from "./reading.ts";

const work = "Work Email,Private Email,Opt-in\n";
const map = new Map([
  ["Work Email", "key"],
  ["private email", "key"],
]);

describe("a second column of the key", () => {
  it("is used where the first is empty or a placeholder, and not where it is wrong", async () => {
    const { rows, rejected, understood } = await read(
      `${work}a@x.org,a@home.org,ja\n,b@home.org,ja\nn/a,c@home.org,ja\nwrong@@x.org,d@home.org,ja\n,,ja\n`,
      { map },
    );
    expect(rows.map(({ key }) => key.sent)).toEqual(["a@x.org", "b@home.org", "c@home.org"]);
    expect(rejected.map(({ line, code }) => [line, code])).toEqual([
      [5, "key_syntax"],
      [6, "key_missing"],
    ]);
    expect(understood.facts.notes).toContain('The key is "Work Email"; where it is empty, "Private Email"');
  });

  it("is wrong with the row where it cannot be read: who has left under it is not known", async () => {
    const { rows, rejected } = await read(
      `${work}a@x.org,a@home.org;,ja\nb@x.org,n/a,ja\nc@x.org,ć@home.org,ja\n`,
      {
        map,
      },
    );
    expect(rows.map(({ key }) => key.sent)).toEqual(["b@x.org"]);
    expect(rejected.map(({ line, code }) => [line, code])).toEqual([
      [2, "further_key_invalid"],
      [4, "further_key_invalid"],
    ]);
  });

  it("comes in the order in which it was named, not in that of the file", async () => {
    const turned = new Map([...map].reverse());
    const { rows } = await read(`${work}a@x.org,a@home.org,ja\nb@x.org,,ja\n`, { map: turned });
    expect(rows.map(({ key }) => key.sent)).toEqual(["a@home.org", "b@x.org"]);
  });

  it("two columns of one name are one key", async () => {
    const { rows } = await read("Email,Email\na@x.org,\n,b@x.org\n", { map: new Map([["Email", "key"]]) });
    expect(rows.map(({ key }) => key.sent)).toEqual(["a@x.org", "b@x.org"]);
  });

  it("marks everybody whom the row of somebody who left names", { tags: "slow" }, async () => {
    const service = await startSandbox();
    const path = await inputFile(
      `${work}a@x.org,a@home.org,nein\n,a@home.org,ja\nbad@@x.org,b@home.org,nein\n,b@home.org,ja\n,c@home.org,ja\n`,
    );
    const flags = ["--map", "Work Email=key", "--map", "Private Email=key"];
    const result = await service.ecm(["import", path, ...flags, "--json"]);
    expect(parseSummary(result).rows).toMatchObject({ created: 1, skipped: 3, rejected: 1 });
    expect([...(await readContacts(service)).keys()]).toEqual(["c@home.org"]);
  });

  it("creates nobody who has left, or is suppressed, under either, and unsubscribes under both", {
    tags: "slow",
  }, async () => {
    const service = await startSandbox({
      contents: { contacts: [{ key: "a@home.org" }, { key: "c@home.org" }] },
    });
    await service.ecm(["contact", "unsubscribe", "a@home.org", "--yes"]);
    await service.ecm(["suppressions", "add", "b@home.org"]);
    const flags = ["--map", "Work Email=key", "--map", "Private Email=key", "--json"];
    const path = await inputFile(
      `${work}a@x.org,a@home.org,ja\nb@x.org,b@home.org,ja\nc@x.org,c@home.org,nein\n`,
    );
    const dry = parseSummary(await service.ecm(["import", path, ...flags, "--dry-run"]));
    const result = await service.ecm(["import", path, ...flags]);
    expect(parseSummary(result)).toMatchObject({
      rows: { created: 0, skipped: 3 },
      codes: { skipped: { moved_unsubscribed: 1, suppressed: 1, not_subscribed: 1 } },
      requests: { total: dry.estimate.requests },
    });
    expect(result.stderr).toContain("a@x.org (line 2): left as a@home.org");
    await service.ecm(["import", path, ...flags, "--unsubscribe-marked"]);
    const active = await service.ecm(["contact", "search", "--status", "active", "-o", "json"]);
    expect(active.stdout).not.toContain("c@home.org");
  });

  it("is priced and planned like any key, from a mapping file too", { tags: "slow" }, async () => {
    const service = await startSandbox();
    const path = await inputFile("Work Email,Private Email\na@x.org,a@home.org\n,b@home.org\n");
    const mapping = await inputFile("Work Email: key\nPrivate Email: key\n", "m.yaml");
    const flags = ["--map", "Work Email=key", "--map", "Private Email=key", "--json"];
    const dry = parseSummary(await service.ecm(["import", path, ...flags, "--dry-run"]));
    const done = parseSummary(await service.ecm(["import", path, "--mapping", mapping, "--json"]));
    expect(done.rows).toEqual(dry.rows);
    expect([...(await readContacts(service)).keys()]).toEqual(["a@x.org", "b@home.org"]);
  });

  it.each([["unsubscribe"], ["delete"], ["mutate", "--add-tag", "T"]])(
    "contact %s takes none of several keys of a row in silence",
    { tags: "slow" },
    async (verb, ...flags) => {
      const contents = {
        tags: ["T"],
        contacts: [{ key: "a@x.org" }, { key: "a@home.org" }, { key: "b@x.org" }],
      };
      const service = await startSandbox({ contents });
      const args = [
        "contact",
        verb,
        ...flags,
        "--map",
        "Work Email=key",
        "--map",
        "Private Email=key",
        "--yes",
      ];
      const named = async (text: string) => service.ecm([...args, "--keys", await inputFile(text), "--json"]);
      const several = await named("Work Email,Private Email\na@x.org,a@home.org\n");
      expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining("SeveralKeysError") });
      const writes = service.sandbox.admin.requests().filter(({ method }) => method !== "GET");
      expect(writes.every(({ path }) => path.includes("search"))).toBe(true);
      const one = await named("Work Email,Private Email\na@x.org,A@x.org\n,b@x.org\n");
      expect(one.code, one.stderr).toBe(0);
    },
  );
});
