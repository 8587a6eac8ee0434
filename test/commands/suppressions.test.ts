import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { plainStructure, startService } from "../support/service.ts";

async function home() {
  const env: Record<string, string> = {
    ...(await temporaryHome()),
    ECM_BASE_URL: "http://127.0.0.1:9",
    ECM_API_KEY: "ecm_us_none",
  };
  return { env, ecm: ecmWith(env) };
}

/** An account whose keys are no addresses. */
const accountOfNumbers = () =>
  startService((_request, response) => json(response, 200, [{ ...plainStructure, keyType: "text" }]));

async function listFile(env: Record<string, string>): Promise<string> {
  const folder = join(env.ECM_STATE_DIR!, "suppressions");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".txt"));
  expect(names).toHaveLength(1);
  return join(folder, names[0]!);
}

describe("ecm suppressions", () => {
  it("keeps keyed hashes, in a private file, and no address; without a request", async () => {
    const { env, ecm } = await home();
    const added = await ecm("suppressions add Ada@Example.com bob@example.org --json");
    expect(added.code).toBe(0);
    expect(added.stderr).toContain("Added 2 keys to the suppression list");
    const entries = JSON.parse(added.stdout) as { hash: string; addedAt: string }[];
    expect(entries).toHaveLength(2);
    const file = await listFile(env);
    const text = await readFile(file, "utf8");
    expect(text).not.toMatch(/example|@/i);
    for (const { hash } of entries) expect(text).toContain(hash);
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect((await stat(join(file, ".."))).mode & 0o077).toBe(0);
    expect(JSON.parse((await ecm("suppressions list --json")).stdout)).toEqual(entries);
    const again = await ecm("suppressions add ada@example.com --json");
    expect(again.stderr).toContain("already on it: 1");
    expect(JSON.parse(again.stdout)).toEqual([entries[0]]);
  });

  it("hashes with a key of its own in each file: two lists of one person share nothing", async () => {
    const [one, other] = [await home(), await home()];
    const readHash = async ({ ecm }: typeof one) =>
      (await ecm("suppressions add ada@example.com -o id")).stdout;
    expect(await readHash(one)).not.toBe(await readHash(other));
  });

  it.each(["ada@example.com", " ADA@Example.COM ", "mailto:ada@example.com", "Ada <ada@example.com>"])(
    "checks %j as the key that an import makes of it",
    async (written) => {
      const { ecm } = await home();
      await ecm("suppressions add Ada@example.com");
      expect((await ecm(["suppressions", "check", written])).code).toBe(0);
    },
  );

  it("exits 0 when all keys are suppressed, 1 when not", async () => {
    const { ecm } = await home();
    expect((await ecm("suppressions check a@example.com")).code).toBe(1);
    await ecm("suppressions add a@example.com");
    expect((await ecm("suppressions check a@example.com")).code).toBe(0);
    const both = await ecm("suppressions check a@example.com b@example.com --json");
    expect(both.code).toBe(1);
    expect(JSON.parse(both.stdout)).toEqual([
      { key: "a@example.com", suppressed: true },
      { key: "b@example.com", suppressed: false },
    ]);
  });

  it("removes once it is confirmed, and says so when a key is not suppressed", async () => {
    const { ecm } = await home();
    await ecm("suppressions add a@example.com b@example.com");
    expect((await ecm("suppressions remove a@example.com")).code).toBe(2);
    const removed = await ecm("suppressions remove a@example.com --yes");
    expect(removed.stderr).toContain("Removed 1 key from the suppression list");
    expect((await ecm("suppressions check a@example.com")).code).toBe(1);
    expect((await ecm("suppressions check b@example.com")).code).toBe(0);
    expect((await ecm("suppressions remove a@example.com --yes")).code).toBe(5);
    await ecm("suppressions add a@example.com");
    expect((await ecm("suppressions check a@example.com")).code).toBe(0);
  });

  it("adds the keys of a file, of a table, and of standard input, and says which lines hold none", async () => {
    const { ecm } = await home();
    const file = join(await temporaryFolder(), "keys.csv");
    await writeFile(file, "Name,Email\nAda,ada@example.com\nBob,bob@exa mple.com\n");
    const added = await ecm(`suppressions add --keys ${file}`);
    expect(added.code).toBe(3);
    expect(added.stderr).toContain(`${file}:3: `);
    const piped = await ecm("suppressions add --keys -", { stdin: "carl@example.com\ndora@example.com\n" });
    expect(piped.code).toBe(0);
    const keys = ["ada@example.com", "carl@example.com", "dora@example.com"];
    expect((await ecm(["suppressions", "check", ...keys])).code).toBe(0);
  });

  it.each(["jörg@bücher.de", "a..b@example.com"])("takes %j typed and in a file alike", async (key) => {
    const file = join(await temporaryFolder(), "keys.txt");
    await writeFile(file, `eve@example.com\n${key}\n`);
    const [typed, output] = [await home(), await home()];
    expect((await typed.ecm(["suppressions", "add", "eve@example.com", key])).code).toBe(0);
    expect((await output.ecm(`suppressions add --keys ${file}`)).code).toBe(0);
    for (const { ecm } of [typed, output]) expect((await ecm(["suppressions", "check", key])).code).toBe(0);
  });

  it("takes keys that are no addresses where the account's keys are none, typed and in a file", async () => {
    const file = join(await temporaryFolder(), "keys.txt");
    await writeFile(file, "customer 4711\n");
    for (const words of [["customer 4711"], ["--keys", file]]) {
      const { ecm } = await accountOfNumbers();
      expect((await ecm(["suppressions", "add", ...words])).code).toBe(0);
      expect((await ecm(["suppressions", "check", " customer 4711\u00a0"])).code).toBe(0);
      expect((await ecm("suppressions check 'Customer 4711'")).code).toBe(1);
    }
  });

  const noKeys = ["customer 4711", "ada@exa mple.com", "a@example.com, b@example.com", "n/a", "6".repeat(24)];
  it.each(noKeys)("takes %j neither typed nor in a file", async (key) => {
    const { ecm } = await home();
    const file = join(await temporaryFolder(), "keys.txt");
    await writeFile(file, `Email\neve@example.com\n"${key}"\n`);
    expect((await ecm(["suppressions", "add", "bob@example.com", key])).code).toBe(2);
    const output = await ecm(`suppressions add --keys ${file}`);
    expect(output.code).toBe(3);
    expect(output.stderr).toContain(`${file}:3: `);
    expect(JSON.parse((await ecm("suppressions list --json")).stdout)).toHaveLength(1);
  });

  it("is one list per account, and one shared file where ECM_SUPPRESSIONS names it", async () => {
    const { ecm } = await home();
    await ecm("suppressions add a@example.com");
    const other = { env: { ECM_BASE_URL: "http://127.0.0.1:10" } };
    expect((await ecm("suppressions check a@example.com", other)).code).toBe(1);
    const shared = { env: { ECM_SUPPRESSIONS: join(await temporaryFolder(), "shared.txt") } };
    await ecm("suppressions add b@example.com", shared);
    const anotherMachine = await home();
    expect((await anotherMachine.ecm("suppressions check b@example.com", shared)).code).toBe(0);
  });

  it("refuses a list that is named and not there, and one that is damaged, with the place", async () => {
    const { env, ecm } = await home();
    const missing = { env: { ECM_SUPPRESSIONS: join(await temporaryFolder(), "gone.txt") } };
    const refused = await ecm("suppressions check a@example.com --json", missing);
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr).error).toMatchObject({ type: "SuppressionsError" });
    await ecm("suppressions add a@example.com");
    await appendFile(await listFile(env), "garbage\n");
    const damaged = await ecm("suppressions check a@example.com");
    expect(damaged.code).toBe(1);
    expect(damaged.stderr).toMatch(/:\d+: the line is damaged/);
  });
});

describe("ecm contact create and the suppression list", () => {
  it("refuses a suppressed key with exit 6, before anything is sent, unless told to", async () => {
    const { ecm } = await startSandbox();
    await ecm("suppressions add ada@example.com");
    for (const flags of [
      ["--key", "Ada@Example.com"],
      ["--key", "ada@example.com", "--dry-run"],
    ]) {
      const refused = await ecm(["contact", "create", ...flags, "--json"]);
      expect(refused.code).toBe(6);
      expect(JSON.parse(refused.stderr).error).toMatchObject({ type: "SuppressedError", applied: "no" });
    }
    const body = JSON.stringify({ key: "ada@example.com", contactStructureId: "x" });
    expect((await ecm("contact create --data -", { stdin: body })).code).toBe(6);
    expect((await ecm("contact create --key bob@example.com")).code).toBe(0);
    const result = await ecm("contact create --key ada@example.com --include-suppressed");
    expect(result.code).toBe(0);
  });

  it("creates nobody while the list cannot be read", async () => {
    const { ecm } = await startSandbox();
    const env = { ECM_SUPPRESSIONS: join(await temporaryFolder(), "gone.txt") };
    expect((await ecm("contact create --key ada@example.com", { env })).code).toBe(1);
    expect((await ecm("contact search --all --json")).stdout.trim()).toBe("[]");
  });

  it.each([
    ["cut off", (text: string) => text.slice(0, -91)],
    ["one digit changed", (text: string) => text.replace(/\+./, (start) => (start === "+0" ? "+1" : "+0"))],
    ["emptied", () => ""],
    ["replaced by something else", () => "ada@example.com\n"],
  ])("creates nobody, by any command, while the list is %s", async (_what, change) => {
    const { ecm, env } = await startSandbox();
    await ecm("suppressions add ada@example.com bob@example.com");
    const file = await listFile(env);
    await writeFile(file, change(await readFile(file, "utf8")));
    const people = join(await temporaryFolder(), "people.csv");
    await writeFile(people, "Email\neve@example.com\n");
    expect((await ecm("lists create News")).code).toBe(0);
    for (const args of [
      ["contact", "create", "--key", "eve@example.com"],
      ["import", people],
      ["lists", "sync", "News", people, "--create"],
      ["suppressions", "add", "eve@example.com"],
    ]) {
      const refused = await ecm(args);
      expect(refused.code, args.join(" ")).toBe(1);
      expect(refused.stderr).toContain(file);
      expect(refused.stderr).toMatch(/\nhint: Restore the file from a backup/);
    }
    expect((await ecm("contact search --count")).stdout).toBe("0\n");
  });

  const spellings = [
    "jörg@bücher.de",
    "JÖRG@BÜCHER.DE",
    "jo\u0308rg@bu\u0308cher.de",
    "jörg@xn--bcher-kva.de",
    "jörg@bücher.de.",
    "mailto:jörg@bücher.de",
    "Jörg B <jörg@xn--bcher-kva.de>",
    " jörg＠bücher。de ",
  ];
  it.each(spellings)("takes %j for the same person, whichever spelling was added", async (added) => {
    const { ecm } = await startSandbox();
    expect((await ecm(["suppressions", "add", added])).code).toBe(0);
    expect((await ecm(["suppressions", "check", ...spellings])).code).toBe(0);
    for (const key of spellings) {
      expect((await ecm(["contact", "create", "--key", key])).code, key).toBe(6);
      const body = JSON.stringify({ key, contactStructureId: "x" });
      expect((await ecm("contact create --data -", { stdin: body })).code, key).toBe(6);
    }
    expect((await ecm(["suppressions", "remove", spellings[3]!, "--yes"])).code).toBe(0);
    expect((await ecm(["suppressions", "check", added])).code).toBe(1);
  });

  it("creates, finds and changes a contact under any spelling of its key", async () => {
    const { ecm } = await startSandbox();
    const created = await ecm("contact create --key mailto:Ada@bücher.de. --json");
    expect(JSON.parse(created.stdout).key).toBe("Ada@xn--bcher-kva.de");
    for (const key of ["ada@bücher.de", "Ada L <ada@xn--bcher-kva.de>"]) {
      expect((await ecm(["contact", "get", key])).code).toBe(0);
      expect((await ecm(["contact", "mutate", key, "--set", `Last Name=${key}`])).code).toBe(0);
      expect((await ecm(["contact", "search", "--key", key, "-o", "id"])).stdout).toMatch(/^[0-9a-f]{24}\n$/);
      expect((await ecm(["contact", "create", "--key", key])).code).toBe(6);
    }
  });
});

describe("a table of keys", () => {
  const ada = "ada@example.com";

  it("a table that marks only some of its rows does not say who is meant", async () => {
    const file = join(await temporaryFolder(), "crm.csv");
    await writeFile(
      file,
      "Email,Unsubscribed\nada@example.com,yes\nbob@example.com,no\ncarl@exa mple.com,no\n",
    );
    const refused = await home();
    const { code, stderr } = await refused.ecm(`suppressions add --keys ${file}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining("marks 1 of 3 rows as not subscribed")]);
    expect(stderr).toContain("--marked-rows to suppress those alone");
    expect((await refused.ecm("suppressions list -o id")).stdout).toBe("");
    for (const [flag, codes] of [
      ["--marked-rows", [0, 0, 1]],
      ["--all-rows", [3, 0, 0]],
    ] as const) {
      const { ecm } = await home();
      const added = await ecm(["suppressions", "add", "--keys", file, flag]);
      const checked = [ada, "bob@example.com"].map(async (key) => ecm(["suppressions", "check", key]));
      expect([added, ...(await Promise.all(checked))].map((each) => each.code)).toEqual(codes);
    }
    const typed = await refused.ecm(["suppressions", "add", ada, "--marked-rows"]);
    expect([typed.code, typed.stderr]).toEqual([2, expect.stringContaining("given with --keys")]);
  });
});
