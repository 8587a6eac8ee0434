/**
 * `ecm reports`: the dashboard and the overall numbers, one campaign, histograms; whatever the service tells.
 */

import { describe, expect, it } from "vitest";
import { errorBody, json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

const at = (terminalColumns: number) => ({ terminalColumns, env: { NO_COLOR: "1" } });
const id = "6b01ef0b2f5df91e78000001";

const contents = {
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

const afterSending = () => startSandbox({ contents });

/** A service whose reports are these, by the end of their path. */
async function reporting(reports: Record<string, unknown>) {
  return startService((request, response) => {
    const { pathname } = new URL(request.url, "http://x");
    const [, body] = Object.entries(reports).find(([path]) => pathname === `/api/reports/${path}`) ?? [];
    if (body === undefined) return json(response, 404, errorBody("RecordNotFound", "Not found"));
    json(response, 200, body);
  });
}

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
      const { ecm, server } = await reporting({});
      for (const command of [["reports"], ["reports", "histogram", "--event", "email-sent"]]) {
        const { code, stderr } = await ecm([...command, `--days=${days}`]);
        expect(code).toBe(2);
        expect(stderr).toContain("--days");
      }
      expect(server.requests).toEqual([]);
    },
  );

  it.each(["Nowhere/City", "+01:00", "", "UTC\u0000", "../etc"])("refuse the zone %j", async (zone) => {
    const { ecm, server } = await reporting({});
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
    const { ecm, server } = await reporting({ dashboard: {}, "email/overall": {} });
    await ecm(["reports"]);
    await ecm(["reports", "--days", "90", "--timezone", "America/St_Johns"]);
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/api/reports/dashboard?pastDays=30&timezone=UTC",
      "/api/reports/email/overall?pastDays=30&timezone=UTC",
      "/api/reports/dashboard?pastDays=90&timezone=America%2FSt_Johns",
      "/api/reports/email/overall?pastDays=90&timezone=America%2FSt_Johns",
    ]);
  });

  const odd: [what: string, dashboard: object, overall: object][] = [
    ["nothing", {}, {}],
    [
      "nulls",
      { campaign: null, contact: null },
      { stats: null, campaignComparison: null, deliveryTimeStats: null },
    ],
    [
      "text",
      { campaign: "x", contact: "y" },
      { stats: "z", campaignComparison: "a", deliveryTimeStats: "b" },
    ],
    [
      "arrays",
      { campaign: [1], contact: [2] },
      { stats: [3], campaignComparison: [4, null, {}], deliveryTimeStats: [5] },
    ],
    [
      "numbers in other places",
      {
        campaign: { sent: 7, opens: { count: 3 }, clicks: { value: 2, diff: -1 } },
        contact: { count: { value: 9 } },
      },
      {
        stats: { sent: { count: null, rate: 0.25 }, odd: { a: { b: 1 } }, gone: null, list: [1] },
        more: { x: 1 },
      },
    ],
    [
      "histograms of other kinds",
      {
        contact: {
          count: "many",
          histogram: { histogram: [null, 5, { date: 7, total: "x" }, { total: 1e21 }] },
        },
      },
      {
        campaignComparison: [
          { name: 5, rates: 7, scheduledAt: {} },
          { rates: { opens: null }, scheduledAt: "2026-99-99T" },
        ],
      },
    ],
    [
      "dangerous names",
      JSON.parse('{"__proto__":{"campaign":1},"constructor":1}'),
      JSON.parse('{"stats":{"__proto__":5,"toString":{"count":1}}}'),
    ],
  ];
  it.each(odd)(
    "that hold %s never fail, make nothing up, and are untouched in JSON",
    async (_what, dashboard, overall) => {
      const { ecm } = await reporting({ dashboard, "email/overall": overall });
      const whole = await ecm(["reports", "--json"]);
      expect(whole.code, whole.stderr).toBe(0);
      expect(JSON.parse(whole.stdout)).toEqual(JSON.parse(JSON.stringify({ dashboard, overall })));
      for (const [args, options] of [
        [[], at(80)],
        [[], at(40)],
        [["-o", "csv"], {}],
        [["-o", "id"], {}],
      ] as const) {
        const { code, stdout, stderr } = await ecm(["reports", ...args], options);
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(stdout).not.toMatch(/undefined|NaN|\[object/);
      }
    },
  );

  it("that are no object are refused", async () => {
    for (const body of [[], null, "x", 5]) {
      const { ecm } = await reporting({ dashboard: body, "email/overall": {} });
      expect(await ecm(["reports", "--json"])).toMatchObject({ code: 1, stdout: "" });
    }
  });

  it("keep every number that one of the two tells", async () => {
    const dashboard = {
      campaign: { sent: { count: 5, diff: 1 }, novel: { count: { value: 3, diff: -12.5 } } },
    };
    const overall = {
      stats: { sent: { count: { value: 5, prev: 4, diff: 25 }, rate: { value: 1, diff: 0 } } },
    };
    const { ecm } = await reporting({ dashboard, "email/overall": overall });
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
    const { ecm, server } = await reporting({ "email/overall/histogram": {} });
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

  it.each([
    ["no bars", {}],
    ["something else", { histogram: "x" }],
    [
      "bars of other types",
      { histogram: [null, 1, "x", { date: null, total: "9" }, { total: -5 }, { total: 1e300, detail: [1] }] },
    ],
    [
      "details that differ",
      {
        histogram: [
          { date: "2026-01-01", total: 1, detail: { a: 1 } },
          { date: "x\u0007", total: 2, detail: { b: { c: 1 } } },
        ],
      },
    ],
  ])("that has %s is shown as far as it goes", async (_what, body) => {
    const { ecm } = await reporting({ "email/overall/histogram": body });
    const histogram = ["reports", "histogram", "--event", "email-sent"];
    expect(JSON.parse((await ecm([...histogram, "--json"])).stdout)).toEqual(body);
    for (const options of [at(80), at(30), {}]) {
      const { code, stdout, stderr } = await ecm(histogram, options);
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).not.toMatch(/undefined|NaN|\[object/);
    }
    expect((await ecm([...histogram, "-o", "id"])).code).toBe(0);
  });

  it("tells the hours of a day apart when the clocks go back", async () => {
    const hours = ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"].map((date) => ({ date, total: 1 }));
    const { ecm } = await reporting({
      [`email/${id}`]: {},
      [`email/${id}/engagement`]: { histogram: hours },
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
      sandbox.admin.event({ key: `p${index}@example.com`, type, ...mail });
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
    const { ecm } = await reporting({
      [`email/${id}`]: { sent: 5 },
      [`email/${id}/engagement`]: { histogram: [{ date: "2026-10-25", total: 3 }] },
    });
    const { stdout } = await ecm([
      ...["reports", "campaign", id, "--period", "week", "-o", "csv", "--columns", "part,name,value"],
    ]);
    expect(stdout).toBe("part,name,value\nmails,sent,5\nengagement,2026-10-25,3\n");
  });

  it.each([
    ["an object by link", { "https://a.example/x": 3, "https://a.example/y": { clicks: 2 } }],
    ["an array", [{ url: "https://a.example/x", clicks: 3 }, { _id: "y", total: 2 }, null, 7, {}]],
    ["text", "none"],
    ["null", null],
  ])("takes link activity as %s", async (_what, linkActivity) => {
    const report = { sent: 5, linkActivity, opens: null, novel: { deep: true } };
    const { ecm } = await reporting({ [`email/${id}`]: report });
    expect(JSON.parse((await ecm(["reports", "campaign", id, "--json"])).stdout)).toEqual(report);
    const { code, stdout, stderr } = await ecm(["reports", "campaign", id], at(80));
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).not.toMatch(/undefined|NaN|\[object/);
    if (typeof linkActivity === "object" && linkActivity) expect(stdout).toMatch(/https:\/\/a.example\/x +3/);
    expect(stdout).toContain('{"deep":true}');
  });
});
