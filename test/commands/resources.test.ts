/**
 * What can only be looked at: `ecm campaigns`, `templates`, `domains` and `reports`. They are rows of one table, so what
 * holds for all of them is tried with each; whatever the service tells is shown as far as it goes, and kept in JSON.
 */
import { describe, expect, it } from "vitest";
import { ecmWith } from "../support/ecm.ts";
import { errorBody, json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

const at = (terminalColumns: number) => ({ terminalColumns, env: { NO_COLOR: "1" } });
const id = "6b01ef0b2f5df91e78000001";

/** A service that answers these paths with these bodies, and anything else with 404. */
async function answering(bodies: Record<string, unknown>) {
  return startService((request, response) => {
    const body = bodies[new URL(request.url, "http://x").pathname.replace(/^\/api\//, "")];
    if (body === undefined) return json(response, 404, errorBody("RecordNotFound", "Not found"));
    json(response, 200, body);
  });
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
const sent = {
  campaigns: [
    {
      name: "Spring sale",
      status: "sent" as const,
      report: {
        sent: 120,
        opens: { unique: 48, rate: 40.68 },
        linkActivity: [{ linkId: "offer", clicks: 15 }],
      },
    },
  ],
  reports: {
    dashboard: { campaign: { sent: { count: 120, diff: 100 } }, contact: { count: 120 } },
    overall: { stats: { sent: { count: stat(120, 0, 100), rate: stat(100, 0, 100) } } },
    histogram: {
      histogram: [7, 0, 9, 48, 21, 3].map((total, index) => ({
        date: `2026-03-2${index}`,
        total,
        detail: {},
      })),
    },
  },
};

const afterSending = () => startSandbox({ contents: sent });

describe("an empty account", () => {
  it("has none of them: nothing is made up", async () => {
    const { ecm } = await startSandbox();
    for (const [group] of lists) {
      expect(await ecm(`${group} list --json`)).toMatchObject({ code: 0, stdout: "[]\n" });
      const shown = await ecm(`${group} list`, at(80));
      expect(shown.code).toBe(0);
      expect(shown.stdout).toBe("");
      expect(shown.stderr).toMatch(/^No (campaigns|templates|sending domains)/);
    }
    const missing = await ecm("campaigns get News");
    expect(missing).toMatchObject({ code: 5, stdout: "" });
    expect(missing.stderr).toContain('No campaign is named "News"');
    expect(await ecm(["campaigns", "get", "0".repeat(24)])).toMatchObject({ code: 5 });
    expect(await ecm("domains get example.com")).toMatchObject({ code: 5 });
  });
});

describe("campaigns", () => {
  it("are listed page by page, or all of them; each once", async () => {
    const named = Array.from({ length: 1000 }, (_, index) => ({ name: `Campaign ${index}` }));
    const { ecm } = await startSandbox({ contents: { campaigns: named } });
    const first = await ecm("campaigns list --json");
    expect(JSON.parse(first.stdout)).toHaveLength(100);
    expect(first.stderr).toContain("100 of 1,000 campaigns · all: --all · next page: --page 2");
    const all = await ecm("campaigns list --all -o csv --columns name");
    expect(new Set(all.stdout.trimEnd().split("\n").slice(1)).size).toBe(1000);
    const last = await ecm("campaigns list --page 40 --size 25 --json");
    expect(JSON.parse(last.stdout)).toHaveLength(25);
    expect(last.stderr).not.toContain("next page");
    expect(await ecm("campaigns list --page 41 --size 25 --json")).toMatchObject({ stdout: "[]\n" });
    expect(JSON.parse((await ecm("campaigns get 'campaign 999' --json")).stdout)).toMatchObject({
      name: "Campaign 999",
    });
  });

  it.each(["cap:7", "refuse:7"])("are all read where larger pages are not given (%s)", async (page) => {
    const named = Array.from({ length: 30 }, (_, index) => ({ name: `C${index}` }));
    const { ecm } = await startSandbox({ variants: { page }, contents: { campaigns: named } });
    expect(JSON.parse((await ecm("campaigns list --all --json")).stdout)).toHaveLength(30);
  });

  it("are narrowed by status, also where the service passes over it", async () => {
    const contents = { campaigns: [{ name: "A" }, { name: "B", status: "sent" as const }] };
    const { ecm } = await startSandbox({ contents });
    const names = async (...args: string[]) =>
      (await ecm(["campaigns", "list", "--columns", "name", ...args])).stdout.split("\n").slice(1, -1);
    expect(await names("--status", "Sent")).toEqual(["B"]);
    const records = [{ status: "sent", name: "B" }, { status: "draft", name: "A" }, { name: "C" }];
    const other = await answering({ "email/campaign": { total: 3, records } });
    const shown = await other.ecm("campaigns list --status sent --json");
    expect(JSON.parse(shown.stdout)).toEqual([records[0], records[2]]);
    expect(other.server.requests[0]!.url).toContain("status=sent");
  });

  it("of one name are told apart by their ids", async () => {
    const { ecm } = await startSandbox({ contents: { campaigns: [{ name: "Twin" }, { name: "Twin" }] } });
    const ids = (await ecm("campaigns list -o id")).stdout.trimEnd().split("\n");
    for (const command of [
      ["campaigns", "get"],
      ["reports", "campaign"],
    ]) {
      const refused = await ecm([...command, "twin"]);
      expect(refused.code).toBe(2);
      for (const id of ids) expect(refused.stderr).toContain(id);
      expect(await ecm([...command, ids[1]!])).toMatchObject({ code: 0 });
    }
  });

  it("by themselves show every member that comes", async () => {
    const campaign = { _id: id, name: "A", novel: { deep: [1] }, ok: false, recipientsTotal: 12 };
    const { ecm } = await answering({ [`email/campaign/${id}`]: campaign });
    expect(JSON.parse((await ecm(`campaigns get ${id} --json`)).stdout)).toEqual(campaign);
    const { stdout } = await ecm(`campaigns get ${id}`, at(80));
    expect(stdout).toMatch(/novel\.deep\.0 +1\nok +false\nrecipientsTotal +12\n/);
  });

  it("refuse a column that does not exist before a request is sent", async () => {
    const { ecm, server } = await answering({ "email/campaign": [] });
    const commands = [
      "campaigns list",
      "campaigns get A",
      "templates list",
      "domains list",
      "domains get a.b",
    ];
    for (const command of commands) {
      const { code, stderr } = await ecm(`${command} --columns nope -o csv`);
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(stderr).toContain("there is no column");
    }
    expect(server.requests).toEqual([]);
  });
});

it("a domain has its DNS records, of which no word is cut", async () => {
  const value = "A".repeat(400);
  const domain = {
    ...{ _id: "d1", domain: "example.com", isReadyForSending: false },
    dkim: { status: "failed", records: [{ type: "TXT", name: "k._domainkey", value }] },
    dmarc: "pending",
    novel: { status: null, records: [{ type: "CNAME", name: "n\u001b[0m", value: 5 }, "no record"] },
  };
  const { ecm } = await answering({ "email/domain": [domain, { domain: "other.com" }] });
  for (const width of [40, 80]) {
    const { stdout } = await ecm("domains get EXAMPLE.com", at(width));
    expect(stdout).toContain(value);
    expect(stdout).toContain("n\\x1b[0m");
  }
  expect(JSON.parse((await ecm("domains get example.com --json")).stdout)).toEqual(domain);
  expect((await ecm("domains get example.com -o id")).stdout).toBe("d1\n");
  const listed = await ecm("domains list -o csv --columns domain,dkim,dmarc");
  expect(listed.stdout).toBe("domain,dkim,dmarc\nexample.com,failed,pending\nother.com,,\n");
});

describe("an answer that holds something else", () => {
  const records: [what: string, body: unknown][] = [
    ["a bare array", [{ name: "A" }]],
    ["records of other types", { total: 5, records: [null, 7, "x", [], true] }],
    [
      "members of other types",
      { total: "2", records: [{ _id: 5, name: {}, status: [], sentCount: "9", updatedAt: 12 }] },
    ],
    ["dangerous names", { records: [JSON.parse('{"__proto__":{"a":1},"constructor":2,"name":"A"}')] }],
    ["deep members", { records: [{ name: "A", extra: { a: { b: [1, { c: null }] } } }] }],
  ];
  it.each(records)("is shown as a list, and in JSON untouched: %s", async (_what, body) => {
    const held = Array.isArray(body) ? body : (body as { records: unknown[] }).records;
    for (const [group, path] of lists) {
      const { ecm } = await answering({ [path]: body });
      expect(await told(ecm, `${group} list`)).toEqual(held);
      if (group !== "domains") expect(await ecm(`${group} list --all --json`)).toMatchObject({ code: 0 });
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

  /** What JSON holds; the other formats show no more than that, and no sign of a value that is missing. */
  async function told(ecm: Awaited<ReturnType<typeof answering>>["ecm"], command: string) {
    for (const [flags, options] of [
      ["", at(80)],
      ["", at(30)],
      ["-o csv", {}],
      ["-o id", {}],
    ] as const) {
      const { code, stdout, stderr } = await ecm(`${command} ${flags}`, options);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).not.toMatch(/undefined|NaN|\[object/);
    }
    const whole = await ecm(`${command} --json`);
    expect(whole.code, whole.stderr).toBe(0);
    return JSON.parse(whole.stdout);
  }

  it.each([[null], ["text"], [7], [[]]])("is refused with a reason: %j", async (body) => {
    const cases: [command: string, bodies: Record<string, unknown>][] = [
      [`campaigns get ${id}`, { [`email/campaign/${id}`]: body }],
      ["reports", { [dashboard]: body, [overall]: {} }],
    ];
    // A list may be a bare array.
    const noList = Array.isArray(body) ? { records: {} } : body;
    for (const [group, path] of lists) cases.push([`${group} list`, { [path]: noList }]);
    for (const [command, bodies] of cases) {
      const { ecm } = await answering(bodies);
      const { code, stdout, stderr } = await ecm(`${command} --json`);
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: "" });
      expect(JSON.parse(stderr.split("\n")[0]!).error).toMatchObject({ type: "UnreadableAnswerError" });
    }
  });
});

describe("reports", () => {
  const told = async (baseUrl: string, apiKey: string, path: string) =>
    (await fetch(`${baseUrl}/api/reports/${path}`, { headers: { "x-api-key": apiKey } })).json();

  it("are the service's own objects in JSON, and a row for each value otherwise", async () => {
    const { ecm, baseUrl, apiKey } = await afterSending();
    const shown = JSON.parse((await ecm("reports --days 7 --timezone UTC --json")).stdout);
    expect(shown.dashboard).toMatchObject(sent.reports.dashboard);
    expect(shown.overall).toEqual(await told(baseUrl, apiKey, "email/overall?pastDays=7"));
    const lines = (await ecm("reports")).stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("name\tvalue\tprev\tdiff");
    expect(lines).toContain("dashboard.contact.count\t120\t\t");
    expect(lines).toContain("overall.stats.sent.count\t120\t0\t100");
    const chosen = await ecm("reports --json --columns name,value");
    expect(JSON.parse(chosen.stdout)).toContainEqual({ name: "overall.stats.sent.rate", value: 100 });
    for (const width of [40, 80]) {
      const { stdout } = await ecm("reports", at(width));
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    }
  });

  it("of a campaign are too; with --period both of them", async () => {
    const { ecm, baseUrl, apiKey } = await afterSending();
    const [{ _id }] = JSON.parse((await ecm("campaigns list --json")).stdout);
    const report = await told(baseUrl, apiKey, `email/${_id}`);
    expect(JSON.parse((await ecm(`reports campaign ${_id} --json`)).stdout)).toEqual(report);
    const period = "reports campaign 'spring sale' --period month";
    const both = JSON.parse((await ecm(`${period} --json`)).stdout);
    expect(both).toMatchObject({ report, engagement: { histogram: expect.any(Array) } });
    const csv = await ecm(`${period} -o csv --columns name,value`);
    expect(csv.stdout).toContain("report.opens.unique,48\n");
    expect(await ecm("reports campaign 'Spring sale' --period year")).toMatchObject({ code: 2 });
  });

  it.each(["0", "-1", "91", "9999999999999999", "x", "1.5", ""])(
    "refuse %j days before a request is sent",
    async (days) => {
      const { ecm, server } = await answering({});
      for (const command of ["reports", histogramOf]) {
        const { code, stderr } = await ecm(`${command} --days=${days}`);
        expect(code).toBe(2);
        expect(stderr).toContain("--days");
      }
      expect(server.requests).toEqual([]);
    },
  );

  it("ask in the zone of this machine unless another is named", async () => {
    const { ecm, server } = await answering({ [dashboard]: {}, [overall]: {} });
    await ecm("reports");
    await ecm("reports --days 90 --timezone America/St_Johns");
    expect(server.requests.map(({ url }) => url)).toEqual([
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
    const csv = await ecm(`${days} -o csv`);
    expect(csv.stdout).toMatch(/^date,total\n2026-03-20,7\n/);
    const { histogram: told } = JSON.parse((await ecm(`${days} --json`)).stdout);
    expect(told[0]).toMatchObject({ detail: {} });
    const other = await answering({ [histogram]: {} });
    for (const event of ["email-sent", "email-opened", "contact-unsubscribed"])
      expect((await other.ecm(`reports histogram --event ${event}`)).code).toBe(0);
    const types = other.server.requests.map(({ url }) =>
      new URL(url, "http://x").searchParams.get("eventType"),
    );
    expect(types).toEqual(["email-sent", "first-email-opened", "first-contact-unsubscribed"]);
    expect(await ecm("reports histogram")).toMatchObject({ code: 2 });
    expect(await ecm("reports histogram --event nonsense")).toMatchObject({ code: 2 });
  });
});

describe.each([
  ["campaigns:read", "campaigns list"],
  ["campaigns:read", `campaigns get ${"0".repeat(24)}`],
  ["campaigns:read", "campaigns get News"],
  ["campaigns:read", "templates list"],
  ["domains:read", "domains list"],
  ["domains:read", "domains get example.com"],
  ["reports:read", "reports"],
  ["reports:read", `reports campaign ${"0".repeat(24)}`],
  ["campaigns:read", "reports campaign News"],
  ["reports:read", "reports histogram --event email-opened"],
  ["campaigns:read", "events --campaign News"],
])("%s, which ecm %s needs", (scope, command) => {
  it("is named where the key has it not, exit 4", async () => {
    const { env, folder } = await startSandbox();
    const owner = ecmWith(env);
    const key = await owner(`sandbox keys create poor --scope contacts:read --data ${folder} --json`);
    const ECM_API_KEY = JSON.parse(key.stdout).key as string;
    const refused = await owner(`${command} --json`, { env: { ECM_API_KEY } });
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(JSON.parse(refused.stderr.trimEnd().split("\n").at(-1)!).error).toMatchObject({
      type: "ForbiddenError",
      status: 403,
      message: `API key missing required scope: ${scope}`,
    });
  });

  it("is named too where the service offers none of it", async () => {
    const { ecm } = await startSandbox({ variants: { literal: "yes" } });
    const { code, stderr, stdout } = await ecm(command);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(
      /^error: This account's service does not offer \w+ \(This endpoint is not accessible via API key\)$/m,
    );
    expect(stderr).toContain(`hint: This takes a key with the scope ${scope}`);
  });
});

it("events of a campaign are those of its mails alone, by name or id, also with --since last", async () => {
  const contents = {
    contacts: Array.from({ length: 6 }, (_, index) => ({ key: `p${index}@example.com` })),
    campaigns: [
      { name: "One", status: "sent" as const },
      { name: "Two", status: "sent" as const },
    ],
  };
  const { ecm, sandbox } = await startSandbox({ contents });
  for (const { _id, name } of JSON.parse((await ecm("campaigns list --json")).stdout)) {
    for (const { key } of contents.contacts)
      sandbox.admin.events({ key, type: "email-sent", emailCampaignId: _id, emailCampaignName: name });
  }
  const list = async (...args: string[]) => JSON.parse((await ecm(["events", "--json", ...args])).stdout);
  const all = await list("--all");
  const one = await list("--campaign", "one");
  expect(one).toHaveLength(6);
  expect(one).toEqual(
    all.filter((event: { emailCampaignName: string }) => event.emailCampaignName === "One"),
  );
  expect(await list("--campaign", one[0].emailCampaignId)).toEqual(one);
  expect(await list("--campaign", "One", "--limit", "5")).toEqual(one.slice(-5));
  const fresh = async (...args: string[]) =>
    (await ecm(["events", "--since", "last", "-o", "id", ...args])).stdout.split("\n").length - 1;
  expect(await fresh("--campaign", "One")).toBe(6);
  expect(await fresh("--campaign", "One")).toBe(0);
  expect(await fresh()).toBe(all.length);
  expect(await ecm("events --campaign Three")).toMatchObject({ code: 5 });
});
