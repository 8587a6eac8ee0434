/** `ecm campaigns`, `templates`, `domains` and `reports`, rows of one table: what can only be looked at. */
import { describe, expect, it } from "vitest";
import { done, type Ecm, ends, errorBody, json, readJson, refused, startSandbox } from "../kit.ts";
import { startService } from "../support/service.ts";

const at = (terminalColumns: number) => ({ terminalColumns, env: { NO_COLOR: "1" } });
const id = "6b01ef0b2f5df91e78000001";
const missing = "0".repeat(24);

/** A service that answers these paths with these bodies, and anything else with 404. */
async function answering(bodies: Record<string, unknown>) {
  const service = await startService((request, response) => {
    const body = bodies[new URL(request.url, "http://x").pathname.replace(/^\/api\//, "")];
    if (body === undefined) return json(response, 404, errorBody("RecordNotFound", "Not found"));
    json(response, 200, body);
  });
  return { ...service, asked: () => service.server.requests.map(({ url }) => url) };
}

const lists: [group: string, path: string][] = [
  ["campaigns", "email/campaign"],
  ["templates", "email/template"],
  ["domains", "email/domain"],
];
const dashboard = "reports/dashboard";
const overall = "reports/email/overall";
const histogram = "reports/email/overall/histogram";
const histogramOf = "reports histogram --event email-sent";

const stat = (value: number, prev: number, diff: number) => ({ value, prev, diff });
const opens = { unique: 48, rate: 40.68 };
const report = { sent: 120, opens, linkActivity: [{ linkId: "offer", clicks: 15 }] };
const days = [7, 0, 9, 48, 21, 3].map((total, at) => ({ date: `2026-03-2${at}`, total, detail: {} }));
const sent = {
  campaigns: [{ name: "Spring sale", status: "sent" as const, report }],
  reports: {
    dashboard: { campaign: { sent: { count: 120, diff: 100 } }, contact: { count: 120 } },
    overall: { stats: { sent: { count: stat(120, 0, 100), rate: stat(100, 0, 100) } } },
    histogram: { histogram: days },
  },
};

it("an empty account has none of them: nothing is made up", async () => {
  const { ecm } = await startSandbox();
  for (const [group] of lists) {
    expect(await readJson(ecm, `${group} list`)).toEqual([]);
    const none = /^No (campaigns|templates|sending domains)/;
    const shown = await ends(ecm(`${group} list`, at(80)), 0, none);
    expect(shown.stdout).toBe("");
  }
  await refused(ecm("campaigns get News"), 5, 'No campaign is named "News"');
  await refused(ecm(`campaigns get ${missing}`), 5);
  await refused(ecm("domains get example.com"), 5);
});

describe("campaigns", () => {
  it("are listed page by page, or all of them; each once", async () => {
    const campaigns = Array.from({ length: 250 }, (_, index) => ({ name: `Campaign ${index}` }));
    const { ecm } = await startSandbox({ contents: { campaigns } });
    const pages = "100 of 250 campaigns · all: --all · next page: --page 2";
    const first = await ends(ecm("campaigns list --json"), 0, pages);
    expect(JSON.parse(first.stdout)).toHaveLength(100);
    const all = await done(ecm("campaigns list --all -o csv --columns name"));
    expect(new Set(all.trimEnd().split("\n").slice(1)).size).toBe(250);
    const last = await ecm("campaigns list --page 10 --size 25 --json");
    expect(JSON.parse(last.stdout)).toHaveLength(25);
    expect(last.stderr).not.toContain("next page");
    expect(await readJson(ecm, "campaigns list --page 11 --size 25")).toEqual([]);
    expect((await readJson(ecm, "campaigns get 'campaign 249'")).name).toBe("Campaign 249");
  });

  it("are narrowed by status, also where the service passes over it", async () => {
    const campaigns = [{ name: "A" }, { name: "B", status: "sent" as const }];
    const { ecm } = await startSandbox({ contents: { campaigns } });
    expect(await done(ecm("campaigns list --columns name --status Sent"))).toBe("name\nB\n");
    const records = [{ status: "sent", name: "B" }, { status: "draft", name: "A" }, { name: "C" }];
    const other = await answering({ "email/campaign": { total: 3, records } });
    expect(await readJson(other.ecm, "campaigns list --status sent")).toEqual([records[0], records[2]]);
    expect(other.asked()[0]).toContain("status=sent");
  });

  it("of one name are told apart by their ids", async () => {
    const { ecm } = await startSandbox({ contents: { campaigns: [{ name: "Twin" }, { name: "Twin" }] } });
    const ids = (await done(ecm("campaigns list -o id"))).trimEnd().split("\n");
    for (const command of ["campaigns get", "reports campaign"]) {
      await refused(ecm(`${command} twin`), 2, ...ids);
      await done(ecm(`${command} ${ids[1]}`));
    }
  });

  it("by themselves show every member that comes", async () => {
    const campaign = { _id: id, name: "A", novel: { deep: [1] }, ok: false, recipientsTotal: 12 };
    const { ecm } = await answering({ [`email/campaign/${id}`]: campaign });
    expect(await readJson(ecm, `campaigns get ${id}`)).toEqual(campaign);
    const { stdout } = await ecm(`campaigns get ${id}`, at(80));
    expect(stdout).toMatch(/novel\.deep\.0 +1\nok +false\nrecipientsTotal +12\n/);
  });
});

it("a column that does not exist is refused before a request is sent", async () => {
  const { ecm, asked } = await answering({ "email/campaign": [] });
  const lines = [...lists.map(([group]) => `${group} list`), "campaigns get A", "domains get a.b"];
  for (const line of lines) await refused(ecm(`${line} --columns nope -o csv`), 2, "there is no column");
  expect(asked()).toEqual([]);
});

it("a domain has its DNS records, of which no word is cut", async () => {
  const value = "A".repeat(400);
  const dkim = { status: "failed", records: [{ type: "TXT", name: "k._domainkey", value }] };
  const novel = { status: null, records: [{ type: "CNAME", name: "n\u001b[0m", value: 5 }, "no record"] };
  const domain = {
    _id: "d1",
    domain: "example.com",
    isReadyForSending: false,
    dkim,
    dmarc: "pending",
    novel,
  };
  const { ecm } = await answering({ "email/domain": [domain, { domain: "other.com" }] });
  for (const width of [40, 80]) {
    const { stdout } = await ecm("domains get EXAMPLE.com", at(width));
    expect(stdout).toContain(value);
    expect(stdout).toContain("n\\x1b[0m");
  }
  expect(await readJson(ecm, "domains get example.com")).toEqual(domain);
  expect(await done(ecm("domains get example.com -o id"))).toBe("d1\n");
  const listed = await done(ecm("domains list -o csv --columns domain,dkim,dmarc"));
  expect(listed).toBe("domain,dkim,dmarc\nexample.com,failed,pending\nother.com,,\n");
});

describe("an answer that holds something else", () => {
  /** What JSON holds; the other formats show no more than that, and no sign of a value that is missing. */
  async function told(ecm: Ecm, command: string) {
    const screens = [ecm(command, at(80)), ecm(command, at(30))];
    for (const shown of [...screens, ecm(`${command} -o csv`), ecm(`${command} -o id`)])
      expect(await done(shown)).not.toMatch(/undefined|NaN|\[object/);
    return readJson(ecm, command);
  }

  const oddMembers = { _id: 5, name: {}, status: [], sentCount: "9", updatedAt: 12 };
  const dangerousName = JSON.parse('{"__proto__":{"a":1},"constructor":2,"name":"A"}');
  const deepMember = { name: "A", extra: { a: { b: [1, { c: null }] } } };
  const records: [what: string, body: unknown][] = [
    ["a bare array", [{ name: "A" }, dangerousName]],
    ["records of other types", { total: 5, records: [null, 7, "x", [], true] }],
    ["members of other types", { total: "2", records: [oddMembers, deepMember] }],
  ];
  it.each(records)("is shown as a list, and in JSON untouched: %s", async (_what, body) => {
    const held = Array.isArray(body) ? body : (body as { records: unknown[] }).records;
    for (const [group, path] of lists) {
      const { ecm } = await answering({ [path]: body });
      expect(await told(ecm, `${group} list`)).toEqual(held);
      if (group !== "domains") await done(ecm(`${group} list --all --json`));
    }
  });

  const odd = { campaign: "x", contact: null, clicks: { value: 2, diff: -1 } };
  const odder = { stats: [3, { count: null }], comparison: [4, null, {}], more: { a: { b: 1e21 } } };
  const dangerous = JSON.parse('{"__proto__":{"campaign":1},"constructor":1,"toString":{"count":1}}');
  const days = [null, 1, "x", { date: "x\u0007", total: "9" }, { total: 1e300, detail: [1] }];
  const reports: [what: string, command: string, bodies: Record<string, unknown>][] = [
    ["nothing", "reports", { [dashboard]: {}, [overall]: {} }],
    ["values in other places", "reports", { [dashboard]: odd, [overall]: odder }],
    ["dangerous names", "reports", { [dashboard]: dangerous, [overall]: { stats: dangerous } }],
    ["no days", histogramOf, { [histogram]: {} }],
    ["days that are text", histogramOf, { [histogram]: { histogram: "x" } }],
    ["days of other types", histogramOf, { [histogram]: { histogram: days } }],
    ["links", `reports campaign ${id}`, { [`reports/email/${id}`]: { sent: 5, links: [null, 7, {}] } }],
  ];
  it.each(reports)("is shown as a report, and in JSON untouched: %s", async (_what, command, bodies) => {
    const { ecm } = await answering(bodies);
    const both = { dashboard: bodies[dashboard], overall: bodies[overall] };
    const whole = dashboard in bodies ? both : Object.values(bodies)[0];
    expect(await told(ecm, command)).toEqual(JSON.parse(JSON.stringify(whole)));
  });

  it.each([[null], ["text"], [7], [[]]])("is refused with a reason: %j", async (body) => {
    // A list may be a bare array.
    const noList = Array.isArray(body) ? { records: {} } : body;
    for (const [command, bodies] of [
      [`campaigns get ${id}`, { [`email/campaign/${id}`]: body }],
      ["reports", { [dashboard]: body, [overall]: {} }],
      ...lists.map(([group, path]) => [`${group} list`, { [path]: noList }] as const),
    ] as const) {
      const { ecm } = await answering(bodies);
      const stderr = await refused(ecm(`${command} --json`), 1);
      expect(JSON.parse(stderr.split("\n")[0]!).error).toMatchObject({ type: "UnreadableAnswerError" });
    }
  });
});

describe("reports", () => {
  /** After a campaign was sent, with what the service itself tells. */
  async function afterSending() {
    const { ecm, baseUrl, apiKey } = await startSandbox({ contents: sent });
    const told = async (path: string) =>
      (await fetch(`${baseUrl}/api/reports/${path}`, { headers: { "x-api-key": apiKey } })).json();
    return { ecm, told };
  }

  it("are the service's own objects in JSON, and a row for each value otherwise", async () => {
    const { ecm, told } = await afterSending();
    const shown = await readJson(ecm, "reports --days 7 --timezone UTC");
    expect(shown.dashboard).toMatchObject(sent.reports.dashboard);
    expect(shown.overall).toEqual(await told("email/overall?pastDays=7"));
    const lines = (await done(ecm("reports"))).trimEnd().split("\n");
    expect(lines[0]).toBe("name\tvalue\tprev\tdiff");
    expect(lines).toContain("dashboard.contact.count\t120\t\t");
    expect(lines).toContain("overall.stats.sent.count\t120\t0\t100");
    const chosen = await readJson(ecm, "reports --columns name,value");
    expect(chosen).toContainEqual({ name: "overall.stats.sent.rate", value: 100 });
    for (const width of [40, 80]) {
      const { stdout } = await ecm("reports", at(width));
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    }
  });

  it("of a campaign are too; with --period both of them", async () => {
    const { ecm, told } = await afterSending();
    const [{ _id }] = await readJson(ecm, "campaigns list");
    const report = await told(`email/${_id}`);
    expect(await readJson(ecm, `reports campaign ${_id}`)).toEqual(report);
    const period = "reports campaign 'spring sale' --period month";
    const engagement = { histogram: expect.any(Array) };
    expect(await readJson(ecm, period)).toMatchObject({ report, engagement });
    const rows = await done(ecm(`${period} -o csv --columns name,value`));
    expect(rows).toContain("report.opens.unique,48\n");
    await refused(ecm("reports campaign 'Spring sale' --period year"), 2);
  });

  it("refuse other days than there are before a request is sent", async () => {
    const { ecm, asked } = await answering({});
    for (const days of ["0", "-1", "91", "9999999999999999", "x", "1.5", ""])
      for (const line of ["reports", histogramOf]) await refused(ecm(`${line} --days=${days}`), 2, "--days");
    expect(asked()).toEqual([]);
  });

  it("ask in the zone of this machine unless another is named", async () => {
    const { ecm, asked } = await answering({ [dashboard]: {}, [overall]: {} });
    await ecm("reports");
    await ecm("reports --days 90 --timezone America/St_Johns");
    expect(asked()).toEqual([
      "/api/reports/dashboard?pastDays=30&timezone=UTC",
      "/api/reports/email/overall?pastDays=30&timezone=UTC",
      "/api/reports/dashboard?pastDays=90&timezone=America%2FSt_Johns",
      "/api/reports/email/overall?pastDays=90&timezone=America%2FSt_Johns",
    ]);
  });

  it("by days have a row for each, and ask for the event as the service names it there", async () => {
    const { ecm } = await afterSending();
    const days = "reports histogram --event email-opened --days 5";
    for (const width of [40, 80]) expect((await ecm(days, at(width))).stdout).toMatch(/^2026-03-23 +48/m);
    expect(await done(ecm(`${days} -o csv`))).toMatch(/^date,total\n2026-03-20,7\n/);
    expect((await readJson(ecm, days)).histogram[0]).toMatchObject({ detail: {} });
    const other = await answering({ [histogram]: {} });
    for (const event of ["email-sent", "email-opened", "contact-unsubscribed"])
      await done(other.ecm(`reports histogram --event ${event}`));
    const types = other.asked().map((url) => new URL(url, "http://x").searchParams.get("eventType"));
    expect(types).toEqual(["email-sent", "first-email-opened", "first-contact-unsubscribed"]);
    for (const flags of ["", "--event nonsense"]) await refused(ecm(`reports histogram ${flags}`), 2);
  });
});

const ofCampaigns = ["campaigns list", `campaigns get ${missing}`, "campaigns get News", "templates list"];
it.each([
  ["campaigns:read", [...ofCampaigns, "reports campaign News", "events --campaign News"]],
  ["domains:read", ["domains list", "domains get example.com"]],
  ["reports:read", ["reports", `reports campaign ${missing}`, "reports histogram --event email-opened"]],
])("the scope %s is named where the service offers none of it: %j", async (scope, lines) => {
  const { ecm } = await startSandbox({ variants: { literal: "yes" } });
  const offersNone =
    /^error: This account's service does not offer \w+ \(This endpoint is not accessible via/m;
  for (const line of lines)
    await refused(ecm(line), 4, offersNone, `hint: This takes a key with the scope ${scope}`);
});

it("events of a campaign are those of its mails alone, by name or id, also with --since last", async () => {
  const contacts = Array.from({ length: 6 }, (_, index) => ({ key: `p${index}@example.com` }));
  const campaigns = ["One", "Two"].map((name) => ({ name, status: "sent" as const }));
  const { ecm, sandbox } = await startSandbox({ contents: { contacts, campaigns } });
  for (const { _id, name } of await readJson(ecm, "campaigns list")) {
    for (const { key } of contacts)
      sandbox.admin.events({ key, type: "email-sent", emailCampaignId: _id, emailCampaignName: name });
  }
  const list = (flags: string) => readJson(ecm, `events ${flags}`);
  const all = await list("--all");
  const one = await list("--campaign one");
  expect(one).toHaveLength(6);
  const isOfOne = ({ emailCampaignName }: { emailCampaignName: string }) => emailCampaignName === "One";
  expect(one).toEqual(all.filter(isOfOne));
  expect(await list(`--campaign ${one[0].emailCampaignId}`)).toEqual(one);
  expect(await list("--campaign One --limit 5")).toEqual(one.slice(-5));
  const fresh = async (flags = "") =>
    (await done(ecm(`events --since last -o id ${flags}`))).split("\n").length - 1;
  expect(await fresh("--campaign One")).toBe(6);
  expect(await fresh("--campaign One")).toBe(0);
  expect(await fresh()).toBe(all.length);
  await refused(ecm("events --campaign Three"), 5);
});
