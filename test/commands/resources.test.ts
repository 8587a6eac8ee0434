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
const histogramOf = ["reports", "histogram", "--event", "email-sent"];

const sent = {
  contacts: Array.from({ length: 120 }, (_, index) => ({ key: `p${index}@example.com` })),
  campaigns: [
    {
      name: "Spring sale",
      status: "sent" as const,
      report: {
        sent: 120,
        delivered: 118,
        opens: { unique: 48, rate: 40.68 },
        clicks: { unique: 12, rate: 10.17 },
        totalBounces: 2,
        hardBounces: 1,
        softBounces: 1,
        linkActivity: [{ linkId: "offer", url: "https://example.com/offer", clicks: 15, uniqueClicks: 12 }],
      },
    },
  ],
  reports: {
    dashboard: { campaign: { sent: { count: 120, diff: 100 } }, contact: { count: 120 } },
    overall: {
      campaignComparison: [
        {
          _id: id,
          name: "Spring sale",
          rates: { opens: 40.68, clicks: 10.17 },
          scheduledAt: "2026-03-20T10:00:00Z",
        },
      ],
      stats: {
        sent: { count: { value: 120, prev: 0, diff: 100 }, rate: { value: 100, prev: 0, diff: 100 } },
      },
    },
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
  it("has none of them: nothing is made up, in any format", async () => {
    const { ecm } = await startSandbox();
    for (const list of [
      ["campaigns", "list"],
      ["templates", "list"],
      ["domains", "list"],
    ]) {
      expect(await ecm([...list, "--json"])).toMatchObject({ code: 0, stdout: "[]\n" });
      expect(await ecm([...list, "-o", "ndjson"])).toMatchObject({ code: 0, stdout: "" });
      expect(
        await ecm([...list, "--all", "-o", "id"].filter((word) => list[0] !== "domains" || word !== "--all")),
      ).toMatchObject({ code: 0, stdout: "" });
      const shown = await ecm(list, at(80));
      expect(shown.code).toBe(0);
      expect(shown.stdout).toBe("");
      expect(shown.stderr).toMatch(/^No (campaigns|templates|sending domains)/);
    }
    const missing = await ecm(["campaigns", "get", "News"]);
    expect(missing).toMatchObject({ code: 5, stdout: "" });
    expect(missing.stderr).toContain('No campaign is named "News"');
    expect(await ecm(["campaigns", "get", "0".repeat(24)])).toMatchObject({ code: 5 });
    expect(await ecm(["domains", "get", "example.com"])).toMatchObject({ code: 5 });
  });
});

describe("campaigns", () => {
  it("are listed page by page, or all of them; each once", async () => {
    const named = Array.from({ length: 1000 }, (_, index) => ({ name: `Campaign ${index}` }));
    const { ecm } = await startSandbox({ contents: { campaigns: named } });
    const first = await ecm(["campaigns", "list", "--json"]);
    expect(JSON.parse(first.stdout)).toHaveLength(100);
    expect(first.stderr).toContain("100 of 1,000 campaigns · all: --all · next page: --page 2");
    const all = await ecm(["campaigns", "list", "--all", "-o", "csv", "--columns", "name"]);
    expect(new Set(all.stdout.trimEnd().split("\n").slice(1)).size).toBe(1000);
    const last = await ecm(["campaigns", "list", "--page", "40", "--size", "25", "--json"]);
    expect(JSON.parse(last.stdout)).toHaveLength(25);
    expect(last.stderr).not.toContain("next page");
    expect(await ecm(["campaigns", "list", "--page", "41", "--size", "25", "--json"])).toMatchObject({
      stdout: "[]\n",
    });
    expect(JSON.parse((await ecm(["campaigns", "get", "campaign 999", "--json"])).stdout)).toMatchObject({
      name: "Campaign 999",
    });
  });

  it.each(["cap:7", "refuse:7"])("are all read where larger pages are not given (%s)", async (page) => {
    const named = Array.from({ length: 30 }, (_, index) => ({ name: `C${index}` }));
    const { ecm } = await startSandbox({ variants: { page }, contents: { campaigns: named } });
    expect(JSON.parse((await ecm(["campaigns", "list", "--all", "--json"])).stdout)).toHaveLength(30);
  });

  it("are narrowed by status, also where the service passes over it", async () => {
    const contents = { campaigns: [{ name: "A" }, { name: "B", status: "sent" as const }] };
    const { ecm } = await startSandbox({ contents });
    const names = async (...args: string[]) =>
      (await ecm(["campaigns", "list", "--columns", "name", ...args])).stdout.split("\n").slice(1, -1);
    expect(await names("--status", "Sent")).toEqual(["B"]);
    const records = [{ status: "sent", name: "B" }, { status: "draft", name: "A" }, { name: "C" }];
    const other = await answering({ "email/campaign": { total: 3, records } });
    const shown = await other.ecm(["campaigns", "list", "--status", "sent", "--json"]);
    expect(JSON.parse(shown.stdout)).toEqual([records[0], records[2]]);
    expect(other.server.requests[0]!.url).toContain("status=sent");
  });

  it("of one name are told apart by their ids", async () => {
    const { ecm } = await startSandbox({ contents: { campaigns: [{ name: "Twin" }, { name: "Twin" }] } });
    const ids = (await ecm(["campaigns", "list", "-o", "id"])).stdout.trimEnd().split("\n");
    for (const command of [
      ["campaigns", "get"],
      ["reports", "campaign"],
    ]) {
      const refused = await ecm([...command, "twin"]);
      expect(refused.code).toBe(2);
      for (const id of ids) expect(refused.stderr).toContain(id);
      expect(await ecm([...command, ids[1]!])).toMatchObject({ code: 0 });
    }
    expect((await ecm(["events", "--campaign", "Twin"])).code).toBe(2);
  });

  it("with names that would steer a terminal are shown escaped, at any width, and kept as they are in data", async () => {
    const names = [
      "\u001b[31mred\u0007",
      "花子の夏のキャンペーン".repeat(4),
      "👩‍👩‍👧‍👦 family",
      "a\tb\nc",
      "x".repeat(300),
      "\u202etxt",
    ];
    const { ecm } = await answering({
      "email/campaign": {
        total: names.length,
        records: names.map((name, index) => ({ _id: `${index}`, name })),
      },
    });
    for (const width of [40, 80, 120]) {
      const { stdout, code } = await ecm(["campaigns", "list"], at(width));
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u202e]/);
      expect(stdout.replaceAll("\u001b[1m", "").replaceAll("\u001b[22m", "")).not.toContain("\u001b");
    }
    expect(
      JSON.parse((await ecm(["campaigns", "list", "--json"])).stdout).map(
        ({ name }: { name: string }) => name,
      ),
    ).toEqual(names);
    const whole = await ecm(["campaigns", "get", "\u001b[31mred\u0007"], at(80));
    expect(whole.stderr).not.toContain("\u0007");
  });

  it("by themselves show every member that comes", async () => {
    const campaign = { _id: id, name: "A", novel: { deep: [1] }, ok: false, recipientsTotal: 12 };
    const { ecm } = await answering({ [`email/campaign/${id}`]: campaign });
    expect(JSON.parse((await ecm(["campaigns", "get", id, "--json"])).stdout)).toEqual(campaign);
    const { stdout } = await ecm(["campaigns", "get", id], at(80));
    for (const shown of ['{"deep":[1]}', "false", "recipients", "12"]) expect(stdout).toContain(shown);
  });

  it("refuse a column that does not exist before a request is sent", async () => {
    const { ecm, server } = await answering({ "email/campaign": [] });
    for (const command of [
      "campaigns list",
      "campaigns get A",
      "templates list",
      "domains list",
      "domains get a.b",
    ]) {
      const { code, stderr } = await ecm([...command.split(" "), "--columns", "nope", "-o", "csv"]);
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(stderr).toContain("there is no column");
    }
    expect(server.requests).toEqual([]);
  });
});

describe("domains", () => {
  it("show what is missing in DNS as lines to copy, never cut", async () => {
    const long = `v=DKIM1; p=${"A".repeat(400)}`;
    const domain = {
      _id: "d1",
      domain: "example.com",
      isReadyForSending: false,
      dkim: { status: "failed", records: [{ type: "TXT", name: "k._domainkey", value: long }] },
      spf: {
        status: "verified",
        records: [{ type: "TXT", name: "spf", value: "fine" }],
        verificationInfo: { at: 1 },
      },
      dmarc: "pending",
      novel: { status: null, records: [{ type: "CNAME", name: "n\u001b[0m", value: 5 }, "no record"] },
      linkTracking: { records: "none" },
    };
    const { ecm } = await answering({ "email/domain": [domain, { domain: "other.com" }] });
    for (const width of [40, 80]) {
      const { stdout } = await ecm(["domains", "get", "EXAMPLE.com"], at(width));
      const lines = stdout.split("\n");
      expect(lines).toContain(`TXT  k._domainkey  ${long}`);
      expect(lines).toContain("CNAME  n\\x1b[0m  5");
      expect(stdout).not.toContain("fine");
      expect(stdout).toContain('{"at":1}');
      expect(stdout).toMatch(/dmarc\S*\s+(\S+ )?.*pending/);
    }
    const rows = await ecm(["domains", "get", "d1", "-o", "csv", "--columns", "type,name,part,missing"]);
    expect(rows.stdout.split("\n").slice(0, -1)).toEqual([
      "type,name,part,missing",
      "TXT,k._domainkey,dkim,true",
      "TXT,spf,spf,false",
      "CNAME,n\u001b[0m,novel,true",
    ]);
    expect(JSON.parse((await ecm(["domains", "get", "example.com", "--json"])).stdout)).toEqual(domain);
    expect((await ecm(["domains", "get", "example.com", "-o", "id"])).stdout).toBe("d1\n");
    const none = await ecm(["domains", "get", "other.com"], at(80));
    expect(none).toMatchObject({ code: 0 });
    expect(none.stdout).not.toContain("Missing");
  });

  it("that are in order say nothing of DNS", async () => {
    const { ecm } = await startSandbox({ contents: { domains: [{ domain: "a.example.com" }] } });
    const { stdout } = await ecm(["domains", "get", "a.example.com"], at(80));
    expect(stdout).toContain("ready");
    expect(stdout).not.toContain("Missing");
  });
});

describe("an answer that holds something else", () => {
  const records: [what: string, body: unknown][] = [
    ["a bare array", [{ name: "A" }]],
    ["records of other types", { total: 5, records: [null, 7, "x", [], true] }],
    [
      "members of other types",
      { total: "2", records: [{ _id: 5, name: {}, status: [], sentCount: "9", updatedAt: 12 }] },
    ],
    ["no members", { records: [{}] }],
    ["a total that cannot be", { total: -4, records: [{ name: "A" }] }],
    ["dangerous names", { records: [JSON.parse('{"__proto__":{"a":1},"constructor":2,"name":"A"}')] }],
    ["deep members", { records: [{ name: "A", extra: { a: { b: [1, { c: null }] } } }] }],
  ];
  it.each(records)("is shown as a list, and in JSON untouched: %s", async (_what, body) => {
    const held = Array.isArray(body) ? body : (body as { records: unknown[] }).records;
    for (const [group, path] of lists) {
      const { ecm } = await answering({ [path]: body });
      expect(await told(ecm, [group, "list"])).toEqual(held);
      if (group !== "domains")
        expect(await ecm([group, "list", "--all", "--json"])).toMatchObject({ code: 0 });
    }
  });

  const reports: [what: string, command: string[], bodies: Record<string, unknown>][] = [
    ["nothing", ["reports"], { [dashboard]: {}, [overall]: {} }],
    [
      "text, nulls and arrays",
      ["reports"],
      {
        [dashboard]: { campaign: "x", contact: null },
        [overall]: { stats: [3], campaignComparison: [4, null, {}], deliveryTimeStats: "b" },
      },
    ],
    [
      "numbers in other places",
      ["reports"],
      {
        [dashboard]: {
          campaign: { sent: 7, opens: { count: 3 }, clicks: { value: 2, diff: -1 } },
          contact: {
            count: "many",
            histogram: { histogram: [null, 5, { date: 7, total: "x" }, { total: 1e21 }] },
          },
        },
        [overall]: {
          stats: { sent: { count: null, rate: 0.25 }, odd: { a: { b: 1 } }, gone: null, list: [1] },
          campaignComparison: [{ name: 5, rates: 7, scheduledAt: {} }, { scheduledAt: "2026-99-99T" }],
          more: { x: 1 },
        },
      },
    ],
    [
      "dangerous names",
      ["reports"],
      {
        [dashboard]: JSON.parse('{"__proto__":{"campaign":1},"constructor":1}'),
        [overall]: JSON.parse('{"stats":{"__proto__":5,"toString":{"count":1}}}'),
      },
    ],
    ["no bars", histogramOf, { [histogram]: {} }],
    ["bars that are text", histogramOf, { [histogram]: { histogram: "x" } }],
    [
      "bars of other types",
      histogramOf,
      {
        [histogram]: { histogram: [null, 1, "x", { date: null, total: "9" }, { total: 1e300, detail: [1] }] },
      },
    ],
    [
      "details that differ",
      histogramOf,
      {
        [histogram]: {
          histogram: [
            { date: "2026-01-01", total: 1, detail: { a: 1 } },
            { date: "x\u0007", total: 2, detail: { b: { c: 1 } } },
          ],
        },
      },
    ],
    ...[
      { "https://a.example/x": 3, "https://a.example/y": { clicks: 2 } },
      [{ url: "https://a.example/x", clicks: 3 }, { _id: "y", total: 2 }, null, 7, {}],
      "none",
      null,
    ].map((linkActivity): [string, string[], Record<string, unknown>] => [
      `links as ${JSON.stringify(linkActivity)}`,
      ["reports", "campaign", id],
      { [`reports/email/${id}`]: { sent: 5, linkActivity, opens: null, novel: { deep: true } } },
    ]),
  ];
  it.each(reports)("is shown as a report, and in JSON untouched: %s", async (_what, command, bodies) => {
    const { ecm } = await answering(bodies);
    const both = { dashboard: bodies[dashboard], overall: bodies[overall] };
    const whole = dashboard in bodies ? both : Object.values(bodies)[0];
    expect(await told(ecm, command)).toEqual(JSON.parse(JSON.stringify(whole)));
  });

  /** What JSON holds; the other formats show no more than that, and no sign of a value that is missing. */
  async function told(ecm: Awaited<ReturnType<typeof answering>>["ecm"], command: string[]) {
    for (const [args, options] of [
      [[], at(80)],
      [[], at(30)],
      [["-o", "csv"], {}],
      [["-o", "id"], {}],
    ] as const) {
      const { code, stdout, stderr } = await ecm([...command, ...args], options);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).not.toMatch(/undefined|NaN|\[object/);
    }
    const whole = await ecm([...command, "--json"]);
    expect(whole.code, whole.stderr).toBe(0);
    return JSON.parse(whole.stdout);
  }

  it.each([[null], ["text"], [7], [[]]])("is refused with a reason: %j", async (body) => {
    const cases: [command: string[], bodies: Record<string, unknown>][] = [
      [["campaigns", "get", id], { [`email/campaign/${id}`]: body }],
      [["reports"], { [dashboard]: body, [overall]: {} }],
    ];
    // A list may be a bare array.
    const noList = Array.isArray(body) ? { records: {} } : body;
    for (const [group, path] of lists) cases.push([[group, "list"], { [path]: noList }]);
    for (const [command, bodies] of cases) {
      const { ecm } = await answering(bodies);
      const { code, stdout, stderr } = await ecm([...command, "--json"]);
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: "" });
      expect(JSON.parse(stderr.split("\n")[0]!).error).toMatchObject({ type: "UnreadableAnswerError" });
    }
  });
});

describe("reports", () => {
  it("show both reports on one screen, with the changes and the zone, at any width", async () => {
    const { ecm } = await afterSending();
    for (const width of [40, 80, 120]) {
      const { code, stdout, stderr } = await ecm(["reports", "--timezone", "Europe/Oslo"], at(width));
      expect(code).toBe(0);
      for (const line of stdout.split("\n").slice(0, 10)) expect(line.length).toBeLessThanOrEqual(width);
      expect(stdout.split("\n").length).toBeLessThanOrEqual(22);
      expect(stdout).toContain("+100 %");
      expect(stdout).toMatch(/contacts\S* {2,}120/);
      expect(stderr).toContain("The last 30 days, in Europe/Oslo");
    }
    const { stdout } = await ecm(["reports", "--timezone", "Asia/Kathmandu"], at(120));
    expect(stdout).toMatch(/Spring sale .* \d+ \w+ \d{4}, \d\d:\d\d GMT\+5:45/);
  });

  it("are the service's own objects in JSON, and a row for each number in csv", async () => {
    const { ecm, baseUrl, apiKey } = await afterSending();
    const told = async (path: string) =>
      (await (
        await fetch(`${baseUrl}/api/reports/${path}`, { headers: { "x-api-key": apiKey } })
      ).json()) as object;
    const clock = await ecm(["reports", "--days", "7", "--timezone", "UTC", "--json"]);
    const shown = JSON.parse(clock.stdout);
    const { contact: _contact, ...dashboard } = (await told("dashboard?pastDays=7")) as Record<
      string,
      unknown
    >;
    expect(shown.dashboard).toMatchObject(dashboard);
    expect(shown.overall).toEqual(await told("email/overall?pastDays=7"));
    const lines = (await ecm(["reports", "--days", "7"])).stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("part\tname\tvalue\tprevious\tchange\trate\trateChange\tid\ttime");
    expect(lines).toContain("overall\tsent\t120\t0\t100\t100\t100\t\t");
    const chosen = await ecm(["reports", "-o", "csv", "--columns", "name,rate"]);
    expect(chosen.stdout).toMatch(/^name,rate\nsent,100\n/);
    const [campaign] = shown.overall.campaignComparison;
    expect((await ecm(["reports", "-o", "id"])).stdout).toBe(`${campaign._id}\n`);
    const asObjects = await ecm(["reports", "--json", "--columns", "name,value"]);
    expect(JSON.parse(asObjects.stdout)[0]).toEqual({ name: "sent", value: 120 });
  });

  it.each([["0"], ["-1"], ["91"], ["9999999999999999"], ["x"], ["1.5"], [""]])(
    "refuse %j days before a request is sent",
    async (days) => {
      const { ecm, server } = await answering({});
      for (const command of [["reports"], ["reports", "histogram", "--event", "email-sent"]]) {
        const { code, stderr } = await ecm([...command, `--days=${days}`]);
        expect(code).toBe(2);
        expect(stderr).toContain("--days");
      }
      expect(server.requests).toEqual([]);
    },
  );

  it.each(["Nowhere/City", "+01:00", "", "UTC\u0000", "../etc"])("refuse the zone %j", async (zone) => {
    const { ecm, server } = await answering({});
    for (const command of [
      ["reports"],
      ["reports", "histogram", "--event", "email-sent"],
      ["reports", "campaign", id],
    ]) {
      const { code, stderr } = await ecm([...command, `--timezone=${zone}`]);
      expect(code).toBe(2);
      expect(stderr).toContain("--timezone");
    }
    expect(server.requests).toEqual([]);
  });

  it("ask in the zone of this machine unless another is named", async () => {
    const { ecm, server } = await answering({ [dashboard]: {}, [overall]: {} });
    await ecm(["reports"]);
    await ecm(["reports", "--days", "90", "--timezone", "America/St_Johns"]);
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/api/reports/dashboard?pastDays=30&timezone=UTC",
      "/api/reports/email/overall?pastDays=30&timezone=UTC",
      "/api/reports/dashboard?pastDays=90&timezone=America%2FSt_Johns",
      "/api/reports/email/overall?pastDays=90&timezone=America%2FSt_Johns",
    ]);
  });

  it("keep every number that one of the two tells", async () => {
    const shown = {
      campaign: { sent: { count: 5, diff: 1 }, novel: { count: { value: 3, diff: -12.5 } } },
    };
    const stats = {
      stats: { sent: { count: { value: 5, prev: 4, diff: 25 }, rate: { value: 1, diff: 0 } } },
    };
    const { ecm } = await answering({ [dashboard]: shown, [overall]: stats });
    const { stdout } = await ecm(["reports"], at(80));
    expect(stdout).toMatch(/novel +3 +−12.5 %/);
    expect(stdout).toMatch(/sent +5 +4 +\+25 % +1 +0 %/);
  });
});

describe("reports histogram", () => {
  it("has a row for each day", async () => {
    const { ecm } = await afterSending();
    const histogram = ["reports", "histogram", "--event", "email-opened", "--days", "5"];
    for (const width of [40, 80])
      expect((await ecm(histogram, at(width))).stdout).toMatch(/^2026-03-23 +48/m);
    const csv = await ecm([...histogram, "-o", "csv"]);
    expect(csv.stdout).toMatch(/^date,total\n\d{4}-\d\d-\d\d,\d+\n/);
    expect(csv.stdout.trimEnd().split("\n")).toHaveLength(7);
    const { histogram: days } = JSON.parse((await ecm([...histogram, "--json"])).stdout);
    expect(days[0]).toMatchObject({ detail: {} });
  });

  it("asks for the event as the service names it there", async () => {
    const { ecm, server } = await answering({ [histogram]: {} });
    for (const event of ["email-sent", "email-opened", "contact-unsubscribed"])
      expect((await ecm(["reports", "histogram", "--event", event])).code).toBe(0);
    expect(server.requests.map(({ url }) => new URL(url, "http://x").searchParams.get("eventType"))).toEqual([
      "email-sent",
      "first-email-opened",
      "first-contact-unsubscribed",
    ]);
    expect(await ecm(["reports", "histogram"])).toMatchObject({ code: 2 });
    expect(await ecm(["reports", "histogram", "--event", "nonsense"])).toMatchObject({ code: 2 });
  });

  it("tells the hours of a day apart when the clocks go back", async () => {
    const hours = ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"].map((date) => ({ date, total: 1 }));
    const { ecm } = await answering({
      [`reports/email/${id}`]: {},
      [`reports/email/${id}/engagement`]: { histogram: hours },
    });
    const { stdout } = await ecm(
      ["reports", "campaign", id, "--period", "24hours", "--timezone", "Europe/Oslo"],
      at(80),
    );
    expect(stdout).toContain("25 Oct 2026, 02:00 CEST");
    expect(stdout).toContain("25 Oct 2026, 02:00 CET");
  });
});

describe("reports campaign", () => {
  it("shows what became of its mails, and the command that names who bounced or complained, which works", async () => {
    const { ecm, sandbox } = await afterSending();
    const campaign = JSON.parse((await ecm(["campaigns", "list", "--json"])).stdout)[0];
    const types = ["email-bounced", "email-complaint", "email-opened"];
    for (const [index, type] of [...types, ...types].entries()) {
      const mail = { emailCampaignId: campaign._id, emailCampaignName: campaign.name };
      sandbox.admin.events({ key: `p${index}@example.com`, type, ...mail });
    }
    const { stdout, stderr } = await ecm(["reports", "campaign", "spring sale", "--period", "week"], at(80));
    expect(stdout).toMatch(/sent +120/);
    expect(stdout).toMatch(/https:\/\/example.com\/\w+ +\d+/);
    const [, line = ""] = /^Who bounced or complained: (.*)$/m.exec(stderr) ?? [];
    const [events = "", unsubscribe = ""] = line.split(" | ").map((command) => command.replace(/^ecm /, ""));
    const listed = await ecm(events.split(" "));
    expect(listed.code, listed.stderr).toBe(0);
    const keys = listed.stdout.trimEnd().split("\n").slice(1);
    const all = JSON.parse((await ecm(["events", "--all", "--json"])).stdout) as {
      type: string;
      emailTo: string;
    }[];
    const expected = all.filter(({ type }) => type === "email-bounced" || type === "email-complaint");
    expect(keys.toSorted()).toEqual(expected.map(({ emailTo }) => emailTo).toSorted());
    const dry = await ecm([...unsubscribe.split(" "), "--json"], { stdin: listed.stdout });
    expect(dry.code, dry.stderr).toBe(0);
    expect(JSON.parse(dry.stdout).rows.read).toBe(keys.length);
  });

  it("is the service's own object in JSON; with --period both of them", async () => {
    const { ecm, baseUrl, apiKey } = await afterSending();
    const [campaign] = JSON.parse((await ecm(["campaigns", "list", "--json"])).stdout);
    const headers = { "x-api-key": apiKey };
    const report = await (await fetch(`${baseUrl}/api/reports/email/${campaign._id}`, { headers })).json();
    expect(JSON.parse((await ecm(["reports", "campaign", campaign._id, "--json"])).stdout)).toEqual(report);
    const both = JSON.parse(
      (await ecm(["reports", "campaign", "Spring sale", "--period", "month", "--json"])).stdout,
    );
    expect(both).toMatchObject({ report, engagement: { histogram: expect.any(Array) } });
    const csv = await ecm([
      "reports",
      "campaign",
      "Spring sale",
      "--period",
      "week",
      "-o",
      "csv",
      "--columns",
      "part,name,value",
    ]);
    expect(csv.stdout).toContain("mails,sent,120\n");
    expect(await ecm(["reports", "campaign", "Spring sale", "--period", "year"])).toMatchObject({ code: 2 });
  });

  it("has a row for each day in csv", async () => {
    const { ecm } = await answering({
      [`reports/email/${id}`]: { sent: 5 },
      [`reports/email/${id}/engagement`]: { histogram: [{ date: "2026-10-25", total: 3 }] },
    });
    const { stdout } = await ecm([
      ...["reports", "campaign", id, "--period", "week", "-o", "csv", "--columns", "part,name,value"],
    ]);
    expect(stdout).toBe("part,name,value\nmails,sent,5\nengagement,2026-10-25,3\n");
  });
});

const readers: [scope: string, command: string[]][] = [
  ["campaigns:read", ["campaigns", "list"]],
  ["campaigns:read", ["campaigns", "get", "0".repeat(24)]],
  ["campaigns:read", ["campaigns", "get", "News"]],
  ["campaigns:read", ["templates", "list"]],
  ["domains:read", ["domains", "list"]],
  ["domains:read", ["domains", "get", "example.com"]],
  ["reports:read", ["reports"]],
  ["reports:read", ["reports", "campaign", "0".repeat(24)]],
  ["campaigns:read", ["reports", "campaign", "News"]],
  ["reports:read", ["reports", "histogram", "--event", "email-opened"]],
  ["campaigns:read", ["events", "--campaign", "News"]],
];

describe("a key without the scope", () => {
  it.each(readers)("is told of %s by ecm %j, exit 4", async (scope, command) => {
    const { env, folder } = await startSandbox();
    const owner = ecmWith(env);
    const key = await owner([
      "sandbox",
      "keys",
      "create",
      "poor",
      "--scope",
      "contacts:read",
      "--data",
      folder,
      "--json",
    ]);
    const ECM_API_KEY = JSON.parse(key.stdout).key as string;
    const refused = await owner([...command, "--json"], { env: { ECM_API_KEY } });
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(JSON.parse(refused.stderr.trimEnd().split("\n").at(-1)!).error).toMatchObject({
      type: "ForbiddenError",
      status: 403,
      message: `API key missing required scope: ${scope}`,
    });
  });

  it.each(readers)(
    "or a service that offers none of it: %s is named too by ecm %j",
    async (scope, command) => {
      const { ecm } = await startSandbox({ variants: { literal: "yes" } });
      const { code, stderr, stdout } = await ecm(command);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toMatch(
        /^error: This account's service does not offer \w+ \(This endpoint is not accessible via API key\)$/m,
      );
      expect(stderr).toContain(`hint: This takes a key with the scope ${scope}`);
    },
  );

  it.each(readers)(
    "nor a failure of the service is taken for something else (%s, ecm %j)",
    async (_scope, command) => {
      const { ecm } = await startSandbox({ faults: ["500:GET:/api/*"] });
      expect(await ecm(command)).toMatchObject({ code: 1, stdout: "" });
      const without = await answering({});
      const { code, stdout } = await without.ecm(command);
      expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
    },
  );
});

describe("events of a campaign", () => {
  it("are those of its mails alone, by name or id, also with --since last", async () => {
    const contents = {
      contacts: Array.from({ length: 60 }, (_, index) => ({ key: `p${index}@example.com` })),
      campaigns: [
        { name: "One", status: "sent" as const },
        { name: "Two", status: "sent" as const },
      ],
    };
    const { ecm, sandbox } = await startSandbox({ contents });
    for (const { _id, name } of JSON.parse((await ecm(["campaigns", "list", "--json"])).stdout)) {
      for (const { key } of contents.contacts) {
        for (const type of ["email-sent", "email-delivered"])
          sandbox.admin.events({ key, type, emailCampaignId: _id, emailCampaignName: name });
      }
    }
    const list = async (...args: string[]) =>
      JSON.parse((await ecm(["events", "--all", "--json", ...args])).stdout);
    const all = await list();
    const one = await list("--campaign", "one");
    expect(one.length).toBeGreaterThan(60);
    expect(one).toEqual(
      all.filter((event: { emailCampaignName: string }) => event.emailCampaignName === "One"),
    );
    expect(await list("--campaign", one[0].emailCampaignId)).toEqual(one);
    const limited = await ecm(["events", "--campaign", "One", "--limit", "5", "--json"]);
    expect(JSON.parse(limited.stdout)).toEqual(one.slice(-5));
    const usual = await ecm(["events", "--campaign", "One", "--json"]);
    expect(JSON.parse(usual.stdout)).toEqual(one.slice(-100));
    expect(usual.stderr).toContain(`of ${one.length} events`);
    const fresh = async (...args: string[]) =>
      (await ecm(["events", "--since", "last", "-o", "id", ...args])).stdout.split("\n").length - 1;
    expect(await fresh("--campaign", "One")).toBe(one.length);
    expect(await fresh("--campaign", "One")).toBe(0);
    expect(await fresh("--campaign", "Two")).toBe(all.length - one.length);
    expect(await fresh()).toBe(all.length);
    expect(await ecm(["events", "--campaign", "Three"])).toMatchObject({ code: 5 });
  });
});

it("completions offer the names that commands saw", async () => {
  const { env, ecm } = await startSandbox({
    contents: { campaigns: [{ name: "Spring sale" }], domains: [{ domain: "mail.example.com" }] },
  });
  await ecm(["campaigns", "list"]);
  await ecm(["domains", "list"]);
  const offered = async (...words: string[]) =>
    (await ecmWith(env)(["__complete", "fish", "--", ...words, ""])).stdout.trimEnd();
  for (const words of [
    ["campaigns", "get"],
    ["reports", "campaign"],
    ["events", "--campaign"],
  ])
    expect(await offered(...words)).toBe("Spring sale");
  expect(await offered("domains", "get")).toBe("mail.example.com");
});
