import { expect, it } from "vitest";
import {
  contacts,
  countMembers,
  machine,
  readRecipes,
  recipe,
  runs,
  silent,
  wrongKey,
} from "./recipes.kit.ts";

it("has ten scripts", async () => {
  const names = [
    "crm-sync",
    "list-mirror",
    "warehouse-export",
    "quota-watch",
    "crm-feedback",
    "key-rotation",
    "approved-plan",
    "campaign-leavers",
    "every-account",
    "shop-import",
  ];
  expect([...(await readRecipes()).keys()]).toEqual(names);
});

recipe("crm-sync", () => {
  it("is silent on a good night, and writes nothing twice on the next", async () => {
    const { script, ecm, file } = await machine();
    const env = { CRM_EXPORT: await file("crm.csv", contacts(30)) };
    expect(await script("crm-sync", env)).toEqual(silent);
    expect(await countMembers(ecm, "Customers")).toBe(30);
    expect(await script("crm-sync", env)).toEqual(silent);
    expect((await runs(ecm))[0]).toMatchObject({ rows: { read: 30, unchanged: 30, created: 0 } });
  });
});

recipe("campaign-leavers", () => {
  it("unsubscribes who complained or bounced for good, and nobody else", async () => {
    const { script, ecm, pipe, service, env } = await machine();
    const seed = async (data: object) =>
      expect((await pipe(JSON.stringify(data), "sandbox", "seed", "-", "--data", service)).code).toBe(0);
    const people = Array.from({ length: 20 }, (_, index) => ({ key: `p${index}@example.com` }));
    await seed({ contacts: people, campaigns: [{ name: "Spring sale", status: "sent" }, { name: "Draft" }] });
    const [sale] = JSON.parse((await ecm("campaigns", "list", "--status", "sent", "--json")).stdout);
    const happenings = [
      { type: "email-complaint" },
      { type: "email-bounced", emailBounceType: "Permanent" },
      { type: "email-bounced", emailBounceType: "Transient" },
      { type: "email-opened" },
    ];
    for (const [index, { key }] of people.entries()) {
      const event = { key, emailCampaignId: sale._id, ...happenings[index % happenings.length] };
      const posted = { method: "POST", body: JSON.stringify(event) };
      expect((await fetch(`${env.ECM_BASE_URL}/__sandbox/events`, posted)).status).toBe(200);
    }
    const events = JSON.parse((await ecm("events", "--all", "--json")).stdout) as Record<string, string>[];
    const left = events.filter(
      ({ type, emailBounceType }) =>
        type === "email-complaint" || (type === "email-bounced" && emailBounceType !== "Transient"),
    );
    expect(left.length).toBeGreaterThan(2);
    const soft = events.filter(({ emailBounceType }) => emailBounceType === "Transient");
    expect(soft.length).toBeGreaterThan(0);
    // A service that does not set these statuses itself.
    await seed({ contacts: left.map(({ emailTo }) => ({ key: emailTo, status: "Active" })) });
    const run = await script("campaign-leavers", {}, ["Spring sale"]);
    expect(run).toEqual({ code: 0, stdout: `${left.length} unsubscribed\n`, stderr: "" });
    for (const { emailTo } of [...left, ...soft]) {
      const { status } = JSON.parse((await ecm("contact", "get", emailTo!, "--json")).stdout);
      expect(status.primary).toBe(soft.some((event) => event.emailTo === emailTo) ? "active" : "Inactive");
    }
    expect(await script("campaign-leavers", {}, ["Spring sale"])).toMatchObject({
      stdout: "0 unsubscribed\n",
    });
    expect(await script("campaign-leavers", {}, ["Draft"])).toEqual(silent);
    expect(await script("campaign-leavers", {}, ["Nothing"])).toMatchObject({ code: 5, stdout: "" });
  });
});

recipe("every-account", () => {
  it("runs for each profile, and says which one failed", async () => {
    const { script, ecm, env, pipe } = await machine();
    const login = async (name: string, key: string) =>
      pipe(
        key,
        "auth",
        "login",
        "--profile",
        name,
        "--base-url",
        env.ECM_BASE_URL!,
        "--api-key-stdin",
        "--no-verify",
      );
    await login("north", env.ECM_API_KEY!);
    await login("south", wrongKey);
    await login("west", env.ECM_API_KEY!);
    await ecm("lists", "create", "News");
    const { code, stdout, stderr } = await script("every-account", {}, [
      "lists",
      "list",
      "--columns",
      "name",
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "north:\nname\nNews\nsouth:\nwest:\nname\nNews\n" });
    expect(stderr).toMatch(/\nevery-account: failed: south \(exit 4\)\n$/);
    await ecm("auth", "logout", "--profile", "south");
    expect(await script("every-account", {}, ["lists", "list", "-q"])).toMatchObject({ code: 0, stderr: "" });
  });
});

recipe("shop-import", () => {
  it("imports names, dates and countries as Miller writes them", async () => {
    const { script, ecm, file } = await machine();
    for (const field of ["Birthday", "Country", "Zip"]) await ecm("structure", "field", "add", field);
    const rows = "Email;Name;Born;Land;Zip\nada@example.com;Ada Lovelace;31.12.1980;DE;01067\n";
    const csv = await file("kunden.csv", `${rows}bob@example.com;Bob;;NO;4109\n`);
    const run = await script("shop-import", {}, [csv, "--yes"]);
    expect(run.code, run.stderr).toBe(0);
    const columns = "key,First Name,Birthday,Country,Zip";
    expect((await ecm("contact", "search", "--columns", columns, "-o", "csv")).stdout).toBe(
      `${columns}\nada@example.com,Ada,1980-12-31,Germany,01067\nbob@example.com,Bob,,NO,4109\n`,
    );
  });
}, ["mlr"]);
