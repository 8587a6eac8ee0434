/** Campaigns, templates, domains and reports: what is served, and the figures that a seed sets. */
import { expect, test } from "vitest";
import { invalidAt, onlyError, openAccount, type Reply } from "./account.ts";

const people = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ key: `p${index}@example.com`, ...more }));

async function seeded(data: object) {
  const account = await openAccount();
  const seed = (body: object) => account.admin("POST", "seed", body);
  const { status, text, body } = await seed(data);
  expect(status, text).toBe(200);
  return { ...account, seed, report: body };
}

test("Reports: everything is there and empty at first", async () => {
  const { get } = await seeded({});
  expect(await get("/api/email/campaign")).toEqual({ total: 0, records: [] });
  expect(await get("/api/email/template")).toEqual({ total: 0, records: [] });
  expect(await get("/api/email/domain")).toEqual([]);
  const dashboard = await get("/api/reports/dashboard?pastDays=1");
  expect(dashboard.campaign.uniqueOpens).toEqual({
    count: { value: 0, diff: 0 },
    rate: { value: 0, diff: 0 },
  });
  const peak = { startDate: null, endDate: null, total: 0 };
  expect(dashboard.contact).toMatchObject({ count: 0, histogram: { peak, histogram: [] } });
  const overall = await get("/api/reports/email/overall?pastDays=90");
  expect(overall.campaignComparison).toEqual([]);
  expect(overall.stats.sent).toEqual({
    count: { value: 0, prev: 0, diff: 0 },
    rate: { value: 0, prev: 0, diff: 0 },
  });
});

const paths = [
  ["campaigns:read", "/api/email/campaign"],
  ["campaigns:read", "/api/email/template"],
  ["domains:read", "/api/email/domain"],
  ["reports:read", "/api/reports/dashboard?pastDays=1"],
  ["reports:read", "/api/reports/email/overall?pastDays=1"],
  ["reports:read", "/api/reports/email/overall/histogram?pastDays=1&eventType=email-sent"],
] as const;

test.each(paths)("Reports: %s is what %s takes", async (scope, path) => {
  const { call, keyWith } = await openAccount();
  expect((await call("GET", path, undefined, { key: await keyWith(scope) })).status).toBe(200);
  const others = ["contacts:write", "campaigns:read", "domains:read", "reports:read"].filter(
    (each) => each !== scope,
  );
  const refused = await call("GET", path, undefined, { key: await keyWith(...others) });
  expect(onlyError(refused)).toEqual({
    status: 403,
    errorType: "ForbiddenError",
    message: `API key missing required scope: ${scope}`,
  });
});

test.each([
  ["/api/reports/dashboard", "pastDays"],
  ["/api/reports/dashboard?pastDays=0", "pastDays"],
  ["/api/reports/dashboard?pastDays=91", "pastDays"],
  ["/api/reports/dashboard?pastDays=-1", "pastDays"],
  ["/api/reports/email/overall?pastDays=7&timezone=Nowhere", "timezone"],
  ["/api/reports/email/overall?pastDays=7&timezone=%2B01:00", "timezone"],
  ["/api/reports/email/overall?pastDays=7&timezone=", "timezone"],
  ["/api/reports/email/overall/histogram?pastDays=7", "eventType"],
  ["/api/reports/email/overall/histogram?pastDays=7&eventType=email-opened", "eventType"],
  ["/api/reports/email/x/engagement?period=year", "period"],
  ["/api/email/campaign?size=0", "size"],
  ["/api/email/campaign?sort=secret", "sort"],
])("Reports: %s is 400 with the field %s", async (path, field) => {
  const { call } = await openAccount();
  expect(onlyError(await call("GET", path))).toMatchObject(invalidAt(field));
});

test.each([
  "/api/email/campaign/x",
  "/api/reports/email/x",
  "/api/reports/email/x/engagement",
  "/api/email/domain/grey-label",
])("Reports: %s does not exist: 404", async (path) => {
  const { call } = await openAccount();
  expect(onlyError(await call("GET", path))).toMatchObject({ status: 404, errorType: "RecordNotFound" });
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
    name: "News",
    from: "",
    subject: "Hello",
    previewText: "",
    previewImageUrl: "",
    status: "sent",
    sentCount: 30,
    failedCount: 0,
    recipientCount: 0,
    createdAt: time,
    updatedAt: time,
  });
  expect((await get("/api/email/campaign")).records[2]).toMatchObject({ status: "draft", createdAt: time });
  expect(await get(`/api/email/campaign/${records[2]._id}`)).toEqual(records[2]);
  expect(await get("/api/email/campaign?status=SENT")).toEqual({ total: 1, records: [records[2]] });
  expect((await get("/api/email/template")).records).toMatchObject([{ name: "Plain", subject: "Hi" }]);
  expect((await get("/api/email/domain"))[0]).toMatchObject({
    domain: "example.com",
    isReadyForSending: false,
    dkim: { status: "", records: [], verificationInfo: {} },
    spf: { status: "pending", records: [] },
  });
  expect(await get("/api/email/domain/grey-label")).toMatchObject({ domain: "mail.example.net" });
});

test.each([
  [{ campaigns: [{ name: "" }] }, "campaigns[0].name"],
  [{ campaigns: [{ name: "A", updatedAt: 5 }] }, "campaigns[0].updatedAt"],
  [{ domains: [{ domain: "no domain" }] }, "domains[0].domain"],
  [{ templates: [{ subject: "x" }] }, "templates[0].name"],
  [{ campaigns: [{ name: "A", report: [] }] }, "campaigns[0].report"],
  [{ reports: { overall: 5 } }, "reports.overall"],
  [{ reports: { monthly: {} } }, "reports.monthly"],
])("Reports: the seed %j is refused at %s, and nothing is applied", async (wrong, place) => {
  const { seed, get } = await seeded({});
  expect(onlyError(await seed({ contacts: people(1), ...wrong }))).toMatchObject(invalidAt(place));
  expect(await get("/api/contact")).toEqual([]);
  expect((await get("/api/email/campaign")).total).toBe(0);
});

test("Reports: a soft bounce leaves its contact active, a hard one does not", async () => {
  const { admin, get } = await seeded({ contacts: people(2) });
  for (const [index, emailBounceType] of ["Transient", "Permanent"].entries()) {
    const event = { key: `p${index}@example.com`, type: "bounced", emailBounceType };
    await admin("POST", "events", event);
  }
  const contacts = await get("/api/contact");
  expect(contacts.map(({ status }: Reply["body"]) => status.secondary)).toEqual(["confirmed", "Bounce"]);
});

test("Reports: figures are those that a seed sets, else zeros; an event that is posted changes none", async () => {
  const report = { sent: 10, opens: { unique: 4 }, linkActivity: [{ url: "https://a.example/", clicks: 2 }] };
  const histogram = { histogram: [{ date: "2026-06-14", total: 4, detail: {} }] };
  const { admin, get, sandbox } = await seeded({
    contacts: people(1),
    campaigns: [{ name: "A", status: "sent", report }],
    reports: { overall: { stats: { sent: { count: { value: 10 } } } }, histogram },
  });
  const event = { key: "p0@example.com", type: "opened" };
  await admin("POST", "events", event);
  expect((await get("/api/contact/events?types=email-opened&pastDays=1")).total).toBe(1);
  const { records } = await get("/api/email/campaign");
  expect(await get(`/api/reports/email/${records[0]._id}`)).toEqual({
    ...report,
    delivered: 0,
    opens: { unique: 4, rate: 0 },
    clicks: { unique: 0, rate: 0 },
    totalBounces: 0,
    hardBounces: 0,
    softBounces: 0,
  });
  const { stats } = await get("/api/reports/email/overall?pastDays=7");
  expect(stats.sent).toEqual({
    count: { value: 10, prev: 0, diff: 0 },
    rate: { value: 0, prev: 0, diff: 0 },
  });
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
