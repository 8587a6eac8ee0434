/** `--status`: documented words in any letter case, people's words, and no other; in every command. */
import { describe, expect, it } from "vitest";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { done, inputFile, type RunningSandbox, readJson, refused, startSandbox } from "../kit.ts";

const people = {
  Active: "stays@example.com",
  Unsubscribe: "left@example.com",
  Bounce: "bounced@example.com",
  "Complaint-FBL": "complained@example.com",
};

function account(variants: Record<string, string> = {}): Promise<RunningSandbox> {
  const contacts = Object.entries(people).map(([status, key]) => ({ key, status }));
  return startSandbox({ variants, contents: { contacts } });
}

const gone = [people.Unsubscribe, people.Bounce, people["Complaint-FBL"]];
const found: [word: string, keys: string[]][] = [
  ["active", [people.Active]],
  ["ACTIVE", [people.Active]],
  ["confirmed", [people.Active]],
  ["subscribed", [people.Active]],
  ["Inactive", gone],
  ["Unsubscribe", [people.Unsubscribe]],
  ["unsubscribed", [people.Unsubscribe]],
  ["Unsubscribed", [people.Unsubscribe]],
  ["bounce", [people.Bounce]],
  ["bounced", [people.Bounce]],
  ["complaint-fbl", [people["Complaint-FBL"]]],
  ["complained", [people["Complaint-FBL"]]],
];

describe("--status", () => {
  it.each([{}, { literal: "yes" }])("finds those whom the word means, with %j", async (variants) => {
    const { ecm } = await account(variants as Record<string, string>);
    const keysWith = async (line: string) =>
      (await done(ecm(`${line} --columns key -o csv`))).trim().split(/\r?\n/).slice(1);
    const some = [found[1]!, found[4]!, found[6]!];
    for (const [word, keys] of "literal" in variants ? some : found)
      expect(await keysWith(`contact search --status ${word}`), word).toEqual(keys);
    for (const [word, keys] of some) {
      expect(await done(ecm(`contact search --status ${word} --count`)), word).toBe(`${keys.length}\n`);
      expect(await keysWith(`export --status ${word}`), word).toEqual(keys);
      const { rows } = await readJson(ecm, `contact delete --status ${word} --dry-run`);
      expect(rows, word).toMatchObject({ deleted: keys.length });
    }
  });

  it.each([
    ["an object", '"contactStatus":{"primary":"$1","secondary":"$2"}'],
    ["a word", '"status":"$1"'],
  ])("is read where a search tells it as %s", async (_form, told) => {
    const parts = /"contactStatus":"(\w+)","contactSubStatus":"([^"]+)"/g;
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed({ contacts: [{ key: people.Unsubscribe, status: "Unsubscribe" }] });
    proxy.rewrites = (_path, text) => text.replace(parts, told);
    expect(await done(proxy.ecm("export --columns status"))).toMatch(/^status\r?\nInactive\b/);
    const again = await readJson(proxy.ecm, "contact unsubscribe --all --yes");
    expect(again.rows).toMatchObject({ unchanged: 1, updated: 0 });
  });

  it("is read by the id where a search leaves it out in silence, and an export without it is no yes", async () => {
    const proxy = await startRecordingProxy();
    const gone = { key: people.Unsubscribe, status: "Unsubscribe" } as const;
    proxy.sandbox.admin.seed({ contacts: [{ key: "a@x.org" }, gone] });
    const untold = /,"contactStatus":"\w+","contactSubStatus":"[^"]+"/g;
    proxy.rewrites = (path, text) => (path.endsWith("/search") ? text.replace(untold, "") : text);
    const exported = await done(proxy.ecm("export"));
    expect(exported).toContain(",Inactive,");
    expect(exported).toContain(",active,");
    const again = await readJson(proxy.ecm, "contact unsubscribe --all --yes");
    expect(again.rows).toMatchObject({ unchanged: 1, updated: 1 });
    const { consent } = await readJson(proxy.ecm, `import ${await inputFile(exported)} --dry-run`);
    expect(consent).toMatchObject({ not_subscribed: 0 });
    const empty = await inputFile(exported.replaceAll(/,(?:Ina|a)ctive,/g, ",,"));
    const said = '"status" looks like consent, but none of its cells is a yes or a no';
    await refused(proxy.ecm(`import ${empty} --ignore-unmapped --yes`), 2, said);
    await done(proxy.ecm(`import ${empty} --map status=ignore --dry-run`));
  });

  it("refuses any other word with exit 2 and the words there are, and sends nothing", async () => {
    const { ecm, sandbox } = await account();
    const keys = await inputFile("stays@example.com\n", "keys.txt");
    for (const line of [
      "contact search --status Nope",
      "contact search --status Unsub",
      "contact search --status toString",
      "contact search --count --status Nope",
      "export --status Nope",
      "contact mutate --set 'First Name=X' --yes --status Nope",
      `contact mutate --keys ${keys} --set 'First Name=X' --yes --status Nope`,
      "contact unsubscribe --yes --status Nope",
      "contact delete --yes --status Nope",
    ]) {
      const refusal = `--status: there is no status "${line.split(" ").at(-1)}"`;
      const known = "active, inactive, confirmed, unsubscribe, bounce, complaint-fbl";
      await refused(ecm(line), 2, refusal, known, "--filter 'CONTACT_STATUS EQ STATUS'");
    }
    await refused(ecm("contact search --status unsubscribd"), 2, "Did you mean unsubscribe");
    expect(sandbox.admin.requests({})).toEqual([]);
    // A filter is left to the service.
    expect(await done(ecm("contact search --filter 'CONTACT_STATUS EQ Nope' --count"))).toBe("0\n");
  });
});
