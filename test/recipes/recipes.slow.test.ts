/** docs/recipes.md as it stands: an ordinary night, and what is cut off, used up, refused or wrong. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { done, ends, readJson, refused } from "../kit.ts";
import {
  contacts,
  countMembers,
  type Machine,
  machine,
  people,
  readRecipes,
  recipe,
  requestsLeft,
  rotating,
  runs,
  says,
  silent,
  wrongKey,
} from "./kit.ts";

type Count = (made: Machine) => Promise<number>;

it("has ten scripts", async () => {
  const names =
    "crm-sync list-mirror warehouse-export quota-watch crm-feedback key-rotation approved-plan campaign-leavers every-account shop-import";
  expect([...(await readRecipes()).keys()]).toEqual(names.split(" "));
});

recipe("a script whose key is refused", () => {
  it.each<[string, (made: Machine) => Promise<Record<string, string>>]>([
    ["crm-sync", async ({ file }) => ({ CRM_EXPORT: await file("crm.csv", contacts(3)) })],
    ["warehouse-export", async ({ folder }) => ({ WAREHOUSE_FOLDER: join(folder, "warehouse") })],
    ["quota-watch", async () => ({})],
    ["crm-feedback", async ({ file }) => ({ FEEDBACK_INBOX: join(await file("inbox/.keep", ""), "..") })],
  ])("%s says so in one line, with the way out", async (name, settings) => {
    const made = await machine();
    const env = { ...(await settings(made)), ECM_API_KEY: wrongKey };
    const said = new RegExp(`^${name}: Invalid API key; .*API Keys page.*\\n$`);
    await refused(made.script(name, env), 4, said);
  });
});

recipe("an hour that is used up", () => {
  it.each<[string, number, number, (made: Machine) => Promise<Record<string, string>>, Count]>([
    [
      "list-mirror",
      12,
      8,
      async ({ file }) => ({ MIRROR_FILE: await file("attendees.csv", contacts(12)) }),
      ({ ecm }) => countMembers(ecm, "Attendees"),
    ],
    [
      "warehouse-export",
      101,
      // Structures, lists and a part of the pages.
      3,
      async ({ folder }) => ({ WAREHOUSE_FOLDER: join(folder, "out"), WAREHOUSE_FORMAT: "csv" }),
      async ({ folder }) => {
        const [name] = (await readdir(join(folder, "out"))).filter((each) => !each.startsWith("."));
        if (name === undefined) return 0;
        const [_header, ...lines] = (await readFile(join(folder, "out", name), "utf8")).trim().split("\n");
        return new Set(lines).size;
      },
    ],
  ])("is left in silence by %s, which goes on in the next", async (name, size, left, settings, count) => {
    const variants = { page: "cap:50" };
    const made = await machine({ variants });
    made.admin().seed({ contacts: people(size) });
    const env = await settings(made);
    await made.restart({ variants, hourlyLimit: 3600 - (await requestsLeft(made.ecm)) + left });
    expect(await made.script(name, env)).toEqual(silent);
    await made.restart({ variants });
    expect(await count(made)).toBeLessThan(name === "warehouse-export" ? 1 : size);
    expect(await made.script(name, env)).toEqual(silent);
    expect(await count(made)).toBe(size);
  });

  it.each(["quota-watch", "crm-feedback"])("is no failure for %s", async (name) => {
    const { script, ecm, file } = await machine({ hourlyLimit: 1 });
    const env = { FEEDBACK_INBOX: join(await file("inbox/.keep", ""), "..") };
    await requestsLeft(ecm);
    expect(await script(name, env)).toEqual(silent);
  });
});

recipe("crm-sync", () => {
  it("keeps the rejects, says so in one line, mails them where it is told to, and writes nothing twice", async () => {
    const { script, ecm, file, folder } = await machine();
    const env = { CRM_EXPORT: await file("crm.csv", `${contacts(30)}not-an-address\n`) };
    const first = await script("crm-sync", env);
    expect(first).toEqual(says(/^crm-sync: 1 of 31 rows rejected: \S+\.csv\n$/));
    expect(await readFile(first.stderr.trim().split(": ")[2]!, "utf8")).toContain("not-an-address");
    expect(await countMembers(ecm, "Customers")).toBe(30);

    await file("bin/mail", `#!/bin/sh\n{ printf '%s\\n' "$@"; cat; } >"$HOME/mailed"\n`, 0o755);
    expect(await script("crm-sync", { ...env, MAIL_TO: "ops@example.com" })).toEqual(silent);
    const [flag, subject, to, ...text] = (await readFile(join(folder, "mailed"), "utf8")).split("\n");
    expect([flag, to]).toEqual(["-s", "ops@example.com"]);
    expect(subject).toMatch(/^crm-sync: 1 of 31 rows rejected: /);
    expect(text.join("\n")).toContain("not-an-address");
    expect((await runs(ecm))[0]).toMatchObject({ rows: { read: 31, unchanged: 30, created: 0 } });
  });

  it("stops with the hour in silence, and finishes the old file before it takes the new one", async () => {
    const { script, ecm, file, restart } = await machine({ hourlyLimit: 220 });
    const env = { CRM_EXPORT: await file("crm.csv", contacts(30)) };
    expect(await script("crm-sync", { ...env, CRM_UNTIL: "30m" })).toEqual(silent);
    const [stopped] = await runs(ecm);
    expect(stopped).toMatchObject({ status: "stopped" });
    expect(stopped.rows.created).toBeGreaterThan(0);
    expect(stopped.rows.pending).toBeGreaterThan(0);

    await file("crm.csv", contacts(10, 25));
    await restart();
    expect(await script("crm-sync", env)).toEqual(silent);
    const [newer, older] = await runs(ecm);
    expect(older).toMatchObject({ run: stopped.run, status: "completed", rows: { created: 30 } });
    expect(newer).toMatchObject({ status: "completed", rows: { created: 5, unchanged: 5 } });
  });

  it("goes on after kill -9, and lets no second copy in meanwhile", async () => {
    const faults = ["delay:POST:/api/contact:seconds=0.2"];
    const { script, startScript, ecm, file, folder, admin } = await machine({ faults });
    const env = { CRM_EXPORT: await file("crm.csv", contacts(24)) };
    const first = await startScript("crm-sync", env);
    const ended = once(first, "close");
    const countCreations = () => admin().requests({ method: "POST", path: "/api/contact" }).length;
    await expect.poll(countCreations).toBeGreaterThan(0);
    expect(await script("crm-sync", env)).toEqual(silent);
    expect(await countMembers(ecm, "Customers")).toBeLessThan(24);
    process.kill(-first.pid!, "SIGKILL");
    await ended;
    // The killed ecm held the lock as well: it may die a moment after its script.
    spawnSync("flock", ["--wait", "10", join(folder, ".local/state/crm-sync/lock"), "true"]);
    expect(await script("crm-sync", env)).toEqual(silent);
    expect((await runs(ecm)).at(-1)).toMatchObject({ status: "completed", rows: { read: 24, created: 24 } });
  });

  it("says in one line what a person has to see to, and how it ended", async () => {
    const { script, ecm, file, admin } = await machine();
    const env = { CRM_EXPORT: await file("crm.csv", contacts(3)) };
    const missing = await script("crm-sync", { CRM_EXPORT: "/nonexistent.csv" });
    expect(missing).toEqual(says("crm-sync: /nonexistent.csv is missing or empty\n", 1));
    // A file that has lost its consent column.
    const asking = { ...env, CRM_CONSENT: "Newsletter=opt-in" };
    expect(await script("crm-sync", asking)).toEqual(says(/^crm-sync: .*"Newsletter".*; .+\n$/, 2));
    admin().account({ monthlyLimit: 0 });
    expect(await script("crm-sync", env)).toEqual(says(/^crm-sync: .*month.*\n$/i, 7));
    admin().account({ monthlyLimit: 1000 });
    expect(await countMembers(ecm, "Customers")).toBe(0);
  });
});

recipe("list-mirror", () => {
  it("mirrors the file in silence, and says in one line what it did not do", async () => {
    const { script, ecm, file, folder, admin } = await machine();
    const env = { MIRROR_FILE: join(folder, "attendees.csv") };
    const mirror = async (text: string) => {
      await file("attendees.csv", text);
      return script("list-mirror", env);
    };
    const told = (what: string) => says(`list-mirror: Attendees: ${env.MIRROR_FILE} ${what}\n`, 3);
    const members = () => countMembers(ecm, "Attendees");
    const missing = { ...told("is missing or cannot be read"), code: 1 };
    expect(await script("list-mirror", env)).toEqual(missing);
    admin().seed({ contacts: people(30) });
    expect(await mirror(contacts(20))).toEqual(silent);
    expect(await members()).toBe(20);

    const before = await requestsLeft(ecm);
    expect(await script("list-mirror", env)).toEqual(silent);
    expect(before - (await requestsLeft(ecm))).toBe(1);

    const guard = /^list-mirror: Attendees: This would remove 10 of the 20 members .*; .*--max-remove.*\n$/;
    await refused(mirror(contacts(10)), 2, guard);
    expect(await members()).toBe(20);
    // A person looked, and it was right: the script continues without a question.
    await done(ecm(`lists sync Attendees ${env.MIRROR_FILE} --max-remove 50%`));
    expect(await script("list-mirror", env)).toEqual(silent);

    const cut = contacts(9).slice(0, -"mple.com\n".length);
    for (let hour = 0; hour < 2; hour += 1)
      expect(await mirror(cut)).toEqual(told("is cut off in its last row: nobody was removed"));
    expect(await members()).toBe(10);

    expect(await mirror(`${contacts(12, 1)}stranger@example.com\n`)).toEqual(
      says(/^list-mirror: Attendees: 1 of 14 rows are no contacts: ecm runs rejects \S+\n$/),
    );
    const exported = await done(ecm("export --list Attendees --columns key -o csv"));
    expect(exported).toBe(contacts(12, 1).replace("Email", "key"));
    expect(await script("list-mirror", env)).toEqual(silent);
  });
});

recipe("warehouse-export", () => {
  it("writes one whole file a day in silence, for each format", async () => {
    const { script, ecm, folder, admin } = await machine();
    admin().seed({ contacts: people(12) });
    const env = { WAREHOUSE_FOLDER: join(folder, "warehouse") };
    expect(await script("warehouse-export", env)).toEqual(silent);
    expect(await script("warehouse-export", { ...env, WAREHOUSE_FORMAT: "csv" })).toEqual(silent);
    const names = (await readdir(env.WAREHOUSE_FOLDER)).filter((each) => !each.startsWith(".")).sort();
    expect(names.join(" ")).toMatch(/^contacts-\d{4}-\d\d-\d\d\.csv contacts-\d{4}-\d\d-\d\d\.ndjson$/);
    const read = (name: string) => readFile(join(env.WAREHOUSE_FOLDER, name), "utf8");
    const [csv, ndjson] = await Promise.all(names.map(read));
    expect(csv!.trimEnd().split("\n")).toHaveLength(13);
    const lines = ndjson!.trimEnd().split("\n");
    expect(lines).toHaveLength(12);
    expect(JSON.parse(lines[0]!)).toMatchObject({ key: "p0@example.com" });

    const before = await requestsLeft(ecm);
    expect(await script("warehouse-export", env)).toEqual(silent);
    expect(before - (await requestsLeft(ecm))).toBe(1);
  });

  it("says in one line why there is no file", async () => {
    const { script, folder } = await machine();
    const env = { WAREHOUSE_FOLDER: join(folder, "warehouse") };
    const unreachable = { ...env, ECM_BASE_URL: "http://127.0.0.1:9", WAREHOUSE_FORMAT: "csv" };
    const said = /^warehouse-export: .*127\.0\.0\.1:9.* \(exit 8\)\n$/;
    await refused(script("warehouse-export", unreachable), 8, said);
  });
});

recipe("quota-watch", () => {
  it("warns once when the month runs low, and again only after it had recovered", async () => {
    const { script, admin } = await machine();
    const limit = (monthlyLimit: number) => admin().account({ monthlyLimit });
    limit(3);
    const early = { QUOTA_LEAST_PERCENT: "70" };
    const low = says("quota-watch: 66 % of the month's requests are left\n");
    expect(await script("quota-watch", early)).toEqual(low);
    expect(await script("quota-watch", early)).toEqual(silent);
    limit(1000);
    expect(await script("quota-watch")).toEqual(silent);
    limit(1);
    expect((await script("quota-watch")).stderr).toBe("quota-watch: none of the month's requests are left\n");
    expect(await script("quota-watch")).toEqual(silent);
  });
});

recipe("key-rotation", () => {
  it("puts a new key in the old one's place in silence, and removes the old one", async () => {
    const { script, ecm, names, works, rotate, remember } = await rotating();
    expect(await script("key-rotation", rotate)).toEqual(silent);
    expect(names()).toEqual([expect.stringMatching(/^crm-\d{8}-\d{6}$/)]);
    expect(await works()).toBe(true);
    expect(await remember()).toEqual(["current", "lock", "log"]);
    const [profile] = await readJson(ecm, "auth list");
    expect(profile).toMatchObject({ name: "crm", structure: expect.stringMatching(/^[0-9a-f]{24}$/) });
  });

  it("goes on wherever it was cut off", async () => {
    const { script, names, works, rotate, note, create, login, keys, remember } = await rotating();
    let old = "crm-first";
    const afterThis = async (next: string, prepare: () => Promise<unknown>) => {
      await prepare();
      expect(await script("key-rotation", rotate), next).toEqual(silent);
      expect(names(), next).toEqual([next]);
      expect(await works(), next).toBe(true);
      expect(await remember(), next).toEqual(["current", "lock", "log"]);
      old = next;
    };
    await afterThis("crm-named", () => note("next", "crm-named\n"));
    create("crm-made");
    await afterThis("crm-made", () => note("next", "crm-made\n"));
    const use = async (name: string) => {
      const key = create(name);
      await note("next", `${name} ${key}\n`);
      await login(key);
    };
    await afterThis("crm-used", () => use("crm-used"));
    await afterThis("crm-written", async () => {
      await use("crm-written");
      keys.delete(old);
      await note("current", "crm-written\n");
    });
  });

  it("leaves the old key in use when the new one does not work, and says so in one line", async () => {
    const { script, names, works, rotate, note } = await rotating();
    await note("next", `crm-next ${wrongKey}\n`);
    // What is wrong, and what to do about it.
    const line = /^key-rotation: crm: the new key is not in use yet: Invalid API key; Check on [^\n]+\n$/;
    await refused(script("key-rotation", rotate), 1, line);
    expect(names()).toEqual(["crm-first"]);
    expect(await works()).toBe(true);
    const nobody = script("key-rotation", { ...rotate, ROTATE_PROFILE: "nobody" });
    await refused(nobody, 2, /^key-rotation: nobody: no such profile.*\n$/);
  });
});

recipe("crm-feedback", () => {
  it("brings each unsubscribe, bounce and complaint once, and is silent when there is none", async () => {
    const { script, ecm, admin, file, folder } = await machine();
    const feedback = { FEEDBACK_INBOX: join(await file("inbox/.keep", ""), "..") };
    const inbox = async () => (await readdir(join(folder, "inbox"))).filter((name) => name.endsWith(".csv"));
    /** Of each event in a file, its type and key. */
    const rows = async (name: string) => {
      const [, ...lines] = (await readFile(join(folder, "inbox", name), "utf8")).trim().split("\n");
      return lines.map((line) => line.split(",").slice(1, 3).join(" "));
    };
    for (const key of ["ada", "bob", "eve"]) await ecm(["contact", "create", "--key", `${key}@example.com`]);
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    expect(await inbox()).toEqual([]);

    const happen = (key: string, type: string) => admin().events({ key: `${key}@example.com`, type });
    for (const type of ["unsubscribed", "opened"]) happen("ada", type);
    happen("bob", "bounced");
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    const [first] = await inbox();
    const told = ["contact-unsubscribed ada@example.com", "email-bounced bob@example.com"];
    expect(await rows(first!)).toEqual(told);
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    expect(await inbox()).toEqual([first]);

    happen("eve", "complained");
    // The night's machine was stopped before the file was handed over.
    const types = "--type contact-unsubscribed --type email-bounced --type email-complaint";
    const events = `events --since last ${types} -o csv --columns time,type,key,detail,contactId`;
    await done(ecm(`${events} --output-file ${join(folder, ".local/state/crm-feedback/events.csv")}`));
    expect(await script("crm-feedback", feedback)).toEqual(silent);
    const [second] = (await inbox()).filter((name) => name !== first);
    expect(await rows(second!)).toEqual(["email-complaint eve@example.com"]);
  });

  it("says in one line that it cannot write", async () => {
    const { script } = await machine();
    const missing = await script("crm-feedback", { FEEDBACK_INBOX: "/nowhere" });
    expect(missing).toEqual(says("crm-feedback: /nowhere cannot be written\n", 1));
  });
});

recipe("campaign-leavers", () => {
  it("unsubscribes who complained or bounced for good, and nobody else", async () => {
    const { script, ecm, admin } = await machine();
    const campaigns = [{ name: "Spring sale", status: "sent" }, { name: "Draft" }];
    admin().seed({ contacts: people(8), campaigns });
    const [sale] = await readJson(ecm, "campaigns list --status sent");
    const happenings = [
      { type: "email-complaint" },
      { type: "email-bounced", emailBounceType: "Permanent" },
      { type: "email-bounced", emailBounceType: "Transient" },
      { type: "email-opened" },
    ];
    const keys = people(8).map(({ key }) => key);
    for (const [index, key] of keys.entries())
      admin().events({ key, emailCampaignId: sale._id, ...happenings[index % happenings.length]! });
    const left = keys.filter((_key, index) => index % happenings.length < 2);
    // A service that does not set these statuses itself.
    admin().seed({ contacts: left.map((key) => ({ key, status: "Active" })) });
    const run = await script("campaign-leavers", {}, ["Spring sale"]);
    expect(run).toEqual({ ...silent, stdout: "4 unsubscribed\n" });
    const inactive = await done(ecm("contact search --status inactive --columns key -o tsv"));
    expect(inactive.trim().split("\n")).toEqual(["key", ...left]);
    expect(await script("campaign-leavers", {}, ["Draft"])).toEqual(silent);
    expect(await script("campaign-leavers", {}, ["Nothing"])).toMatchObject({ code: 5, stdout: "" });
  });
});

recipe("every-account", () => {
  it("runs for each profile, and says which one failed", async () => {
    const { script, ecm, env } = await machine();
    for (const [name, stdin] of Object.entries({ south: wrongKey, west: env.ECM_API_KEY! })) {
      const login = `auth login --profile ${name} --base-url ${env.ECM_BASE_URL} --api-key-stdin --no-verify`;
      await ecm(login, { stdin });
    }
    await ecm("lists create News");
    const each = script("every-account", {}, ["lists", "list", "--columns", "name"]);
    const { stdout } = await ends(each, 1, /\nevery-account: failed: south \(exit 4\)\n$/);
    expect(stdout).toBe("south:\nwest:\nname\nNews\n");
    await ecm("auth logout --profile south");
    expect(await script("every-account", {}, ["lists", "list", "-q"])).toMatchObject({ code: 0, stderr: "" });
  });
});

recipe("shop-import", () => {
  it("imports names, dates and countries as Miller writes them", async () => {
    const { script, ecm, file } = await machine();
    for (const field of ["Birthday", "Country", "Zip"]) await ecm(`structure field add ${field}`);
    const rows = "Email;Name;Born;Land;Zip\nada@example.com;Ada Lovelace;31.12.1980;DE;01067\n";
    const csv = await file("kunden.csv", `${rows}bob@example.com;Bob;;NO;4109\n`);
    await done(script("shop-import", {}, [csv, "--yes"]));
    const columns = "key,First Name,Birthday,Country,Zip";
    const imported = "ada@example.com,Ada,1980-12-31,Germany,01067\nbob@example.com,Bob,,NO,4109\n";
    expect(await done(ecm(`contact search --columns '${columns}' -o csv`))).toBe(`${columns}\n${imported}`);
  });
}, ["mlr"]);
