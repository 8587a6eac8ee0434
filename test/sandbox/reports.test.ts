/** Campaigns, templates, domains and reports: what is served, and the figures that a seed sets. */
import { expect, test } from "vitest";
import { invalidAt, onlyError, openAccount, type Reply } from "./account.ts";

async function seeded(data: object) {
  const account = await openAccount();
  const seed = (body: object) => account.admin("POST", "seed", body);
  const { status, text, body: report } = await seed(data);
  expect(status, text).toBe(200);
  return { ...account, seed, report };
}

const noFigure = { value: 0, prev: 0, diff: 0 };

test("Reports: everything is there and empty at first", async () => {
  const { get } = await seeded({});
  for (const path of ["campaign", "template"]) {
    expect(await get(`/api/email/${path}`)).toEqual({ total: 0, records: [] });
  }
  expect(await get("/api/email/domain")).toEqual([]);
  const dashboard = await get("/api/reports/dashboard?pastDays=1");
  const nothing = { value: 0, diff: 0 };
  expect(dashboard.campaign.uniqueOpens).toEqual({ count: nothing, rate: nothing });
  const peak = { startDate: null, endDate: null, total: 0 };
  expect(dashboard.contact).toMatchObject({ count: 0, histogram: { peak, histogram: [] } });
  const overall = await get("/api/reports/email/overall?pastDays=90");
  expect(overall.campaignComparison).toEqual([]);
  expect(overall.stats.sent).toEqual({ count: noFigure, rate: noFigure });
});

test.each<[field: string, path: string, ends: string[]]>([
  ["pastDays", "reports/dashboard", ["", "?pastDays=0", "?pastDays=91", "?pastDays=-1"]],
  ["timezone", "reports/email/overall?pastDays=7&timezone=", ["Nowhere", "%2B01:00", ""]],
  ["eventType", "reports/email/overall/histogram?pastDays=7", ["", "&eventType=email-opened"]],
  ["period", "reports/email/x/engagement", ["?period=year"]],
  ["size", "email/campaign", ["?size=0"]],
  ["sort", "email/campaign", ["?sort=secret"]],
])("Reports: 400 with the field %s: %s and %j", async (field, path, ends) => {
  const { call } = await openAccount();
  for (const end of ends)
    expect(onlyError(await call("GET", `/api/${path}${end}`)), end).toMatchObject(invalidAt(field));
});

test("Reports: what is not there is 404", async () => {
  const { call } = await openAccount();
  const missing = "email/campaign/x reports/email/x reports/email/x/engagement email/domain/grey-label";
  for (const path of missing.split(" ")) {
    const refusal = onlyError(await call("GET", `/api/${path}`));
    expect(refusal, path).toMatchObject({ status: 404, errorType: "RecordNotFound" });
  }
});

test("Reports: campaigns, templates and domains are those of the last seed, answered as given, else zeros", async () => {
  const { clock, seed, get, report } = await seeded({ campaigns: [{ name: "Before" }] });
  expect(report).toEqual({ contacts: { created: 0, updated: 0 } });
  clock.pass(60);
  await seed({
    campaigns: [
      { name: "News", subject: "Hello", status: "sent", sentCount: 30, report: { sent: 30 } },
      { name: "Draft" },
      { name: "Draft", updatedAt: "2026-06-01T00:00:00.000Z" },
    ],
    templates: [{ name: "Plain", subject: "Hi" }],
    domains: [
      { domain: "example.com", spf: { status: "pending" } },
      { domain: "mail.example.net", provider: "grey-label" },
    ],
  });
  const { total, records } = await get("/api/email/campaign?sort=name");
  expect([total, records.map(({ name }: Reply["body"]) => name)]).toEqual([3, ["Draft", "Draft", "News"]]);
  const time = "2026-06-15T12:01:00.000Z";
  expect(records[2]).toEqual({
    _id: expect.stringMatching(/^[0-9a-f]{24}$/),
    ...{ name: "News", from: "", subject: "Hello", previewText: "", previewImageUrl: "", status: "sent" },
    ...{ sentCount: 30, failedCount: 0, recipientCount: 0, createdAt: time, updatedAt: time },
  });
  expect((await get("/api/email/campaign")).records[2]).toMatchObject({ status: "draft", createdAt: time });
  expect(await get(`/api/email/campaign/${records[2]._id}`)).toEqual(records[2]);
  expect(await get("/api/email/campaign?status=SENT")).toEqual({ total: 1, records: [records[2]] });
  expect((await get("/api/email/template")).records).toMatchObject([{ name: "Plain", subject: "Hi" }]);
  expect((await get("/api/email/domain"))[0]).toMatchObject({
    domain: "example.com",
    isReadyForSending: false,
    lastCheckedAt: time,
    dkim: { status: "", records: [], verificationInfo: {} },
    spf: { status: "pending", records: [] },
  });
  expect(await get("/api/email/domain/grey-label")).toMatchObject({ domain: "mail.example.net" });
});

test("Reports: figures are those that a seed sets, else zeros; an event that is posted changes none", async () => {
  const report = { sent: 10, opens: { unique: 4 }, linkActivity: [{ url: "https://a.example/", clicks: 2 }] };
  const histogram = { histogram: [{ date: "2026-06-14", total: 4, detail: {} }] };
  const { admin, get, sandbox } = await seeded({
    contacts: [{ key: "p0@example.com" }],
    campaigns: [{ name: "A", status: "sent", report }],
    reports: { overall: { stats: { sent: { count: { value: 10 } } } }, histogram },
  });
  const event = { key: "p0@example.com", type: "opened" };
  await admin("POST", "events", event);
  expect((await get("/api/contact/events?types=email-opened&pastDays=1")).total).toBe(1);
  const { records } = await get("/api/email/campaign");
  expect(await get(`/api/reports/email/${records[0]._id}`)).toEqual({
    ...{ ...report, delivered: 0, opens: { unique: 4, rate: 0 }, clicks: { unique: 0, rate: 0 } },
    ...{ totalBounces: 0, hardBounces: 0, softBounces: 0 },
  });
  const { stats } = await get("/api/reports/email/overall?pastDays=7");
  expect(stats.sent).toEqual({ count: { ...noFigure, value: 10 }, rate: noFigure });
  expect(stats.uniqueOpens.count.value).toBe(0);
  const opens = "/api/reports/email/overall/histogram?pastDays=7&eventType=first-email-opened";
  expect(await get(opens)).toMatchObject({ ...histogram, peak: { total: 0 } });
  expect((await get("/api/reports/dashboard?pastDays=7")).campaign.sent).toEqual({ count: 0, diff: 0 });
  sandbox.admin.snapshots.save("one");
  await admin("POST", "reset");
  expect((await get(opens)).histogram).toEqual([]);
  sandbox.admin.snapshots.load("one");
  expect(await get(opens)).toMatchObject(histogram);
});
