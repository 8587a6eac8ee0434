/**
 * Campaigns, templates, domains and reports: what is served, and that one
 * story is told by events, contacts and reports.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { drawMail } from "../../src/sandbox/rules/sending.ts";
import { onlyError, openAccount, type Reply, type TestAccount } from "./account.ts";

const people = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ key: `p${index}@example.com`, ...more }));
const day = 86_400;

async function seeded(data: object, options?: Parameters<typeof openAccount>[0]) {
  const account = await openAccount(options);
  const seed = (body: object) => account.call("POST", "/__sandbox/seed", body, { key: null });
  const answer = await seed(data);
  expect(answer.status, answer.text).toBe(200);
  const get = async (path: string) => {
    const got = await account.call("GET", path);
    expect(got.status, got.text).toBe(200);
    return got.body;
  };
  return { account, seed, get, report: answer.body };
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
  expect(dashboard.contact).toMatchObject({
    count: 0,
    histogram: {
      peak: { startDate: null, endDate: null, total: 0 },
      histogram: [{ total: 0 }, { total: 0 }],
    },
  });
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
  expect(onlyError(await call("GET", path))).toMatchObject({
    status: 400,
    errorType: "ValidationError",
    field,
  });
});

test("Reports: a campaign that does not exist is 404", async () => {
  const { call } = await openAccount();
  for (const path of ["/api/email/campaign/x", "/api/reports/email/x", "/api/reports/email/x/engagement"]) {
    expect(onlyError(await call("GET", path))).toMatchObject({ status: 404, errorType: "RecordNotFound" });
  }
  expect(onlyError(await call("GET", "/api/email/domain/grey-label")).status).toBe(404);
});

test("Reports: a seed makes campaigns, templates and domains by names, and sends nothing twice", async () => {
  const data = {
    contacts: people(30),
    campaigns: [
      { name: "News", subject: "Hello", status: "sent" },
      { name: "Draft" },
      { name: "Later", sentAt: "2026-06-20T12:00:00Z" },
    ],
    templates: [{ name: "Plain", subject: "Hi" }],
    domains: [
      { domain: "example.com", missing: ["spf"] },
      { domain: "mail.example.net", provider: "grey-label" },
    ],
  };
  const { account, seed, get, report } = await seeded(data);
  expect(report).toEqual({
    contacts: { created: 30, updated: 0 },
    campaigns: { created: 3, updated: 0 },
    templates: { created: 1, updated: 0 },
    domains: { created: 2, updated: 0 },
  });
  account.clock.pass(60 * 60);
  const again = await seed({
    ...data,
    contacts: [],
    campaigns: [{ ...data.campaigns[0], subject: "Better" }],
  });
  expect(again.body.campaigns).toEqual({ created: 0, updated: 1 });
  const { records } = await get("/api/email/campaign?sort=name");
  expect(
    records.map(({ name, status, subject, sentCount, recipientCount }: Reply["body"]) => [
      ...[name, status, subject, sentCount, recipientCount],
    ]),
  ).toEqual([
    ["Draft", "draft", "Draft", 0, 0],
    ["Later", "scheduled", "Later", 0, 30],
    ["News", "sent", "Better", 30, 30],
  ]);
  expect(await get(`/api/email/campaign/${records[2]._id}`)).toEqual(records[2]);
  expect(await get("/api/email/campaign?status=SENT")).toEqual({ total: 1, records: [records[2]] });
  const [domain] = await get("/api/email/domain");
  expect(domain).toMatchObject({
    domain: "example.com",
    isReadyForSending: false,
    dkim: { status: "verified" },
    spf: { status: "pending", records: [{ type: "TXT", name: "mail.example.com" }] },
    identity: { mailFrom: { subdomain: "mail.example.com" } },
  });
  expect(await get("/api/email/domain/grey-label")).toMatchObject({ domain: "mail.example.net" });
});

test.each([
  [{ campaigns: [{ name: "" }] }, "campaigns[0].name"],
  [{ campaigns: [{ name: "A", status: "gone" }] }, "campaigns[0].status"],
  [{ campaigns: [{ name: "A", status: "draft", sentAt: "2026-06-01" }] }, "campaigns[0].sentAt"],
  [{ campaigns: [{ name: "A", status: "scheduled" }] }, "campaigns[0].sentAt"],
  [{ campaigns: [{ name: "A", status: "scheduled", sentAt: "2026-06-01" }] }, "campaigns[0].sentAt"],
  [{ campaigns: [{ name: "A", status: "sent", sentAt: "2027-06-01" }] }, "campaigns[0].sentAt"],
  [{ campaigns: [{ name: "A", sentAt: "soon" }] }, "campaigns[0].sentAt"],
  [{ domains: [{ domain: "no domain" }] }, "domains[0].domain"],
  [{ domains: [{ domain: "a.b", missing: ["mx"] }] }, "domains[0].missing[0]"],
  [{ templates: [{ subject: "x" }] }, "templates[0].name"],
  [{ campaigns: [{ name: "A", color: 1 }] }, "campaigns[0].color"],
])("Reports: the seed %j is refused at %s, and nothing is applied", async (wrong, place) => {
  const { call } = await openAccount();
  const answer = await call("POST", "/__sandbox/seed", { contacts: people(1), ...wrong }, { key: null });
  expect(onlyError(answer)).toMatchObject({ status: 400, field: place });
  expect((await call("GET", "/api/contact")).body).toEqual([]);
  expect((await call("GET", "/api/email/campaign")).body.total).toBe(0);
});

test("Reports: a list tells how many campaigns name it", async () => {
  const { account, get } = await seeded({
    lists: ["News", "Offers"],
    campaigns: [
      { name: "A", lists: ["News"] },
      { name: "B", lists: ["news"], status: "sent" },
      { name: "C" },
    ],
  });
  const { records } = await get(`/api/contact-structure/${account.structureId}/lists`);
  expect(records.map(({ totalCampaigns }: Reply["body"]) => totalCampaigns)).toEqual([2, 0]);
  expect(await get("/api/email/campaign?sort=name")).toMatchObject({
    records: [{ recipientCount: 0 }, { recipientCount: 0 }, {}],
  });
});

test("Reports: within a seed two campaigns may have one name; which is meant later cannot be said", async () => {
  const { seed, get } = await seeded({ campaigns: [{ name: "Twin" }, { name: "Twin" }] });
  expect((await get("/api/email/campaign")).total).toBe(2);
  expect(onlyError(await seed({ campaigns: [{ name: "twin" }] }))).toMatchObject({ field: "campaigns[0]" });
});

test("Reports: what follows from a mail happens when the service's time comes to it", async () => {
  const { account, get } = await seeded({
    contacts: people(200),
    campaigns: [{ name: "Later", sentAt: "2026-06-16T12:00:00Z" }],
  });
  const sent = async () => (await get("/api/email/campaign")).records[0];
  expect(await sent()).toMatchObject({ status: "scheduled", sentCount: 0 });
  // Who leaves before it is sent gets none, and who is deleted neither.
  const { contacts } = (await account.search([], { pageSize: 2 })).body;
  const leave = { status: { primary: "Inactive", secondary: "Unsubscribe" } };
  await account.call("PATCH", `/api/contact/${contacts[0]._id}`, leave);
  await account.call("DELETE", `/api/contact/${contacts[1]._id}`);
  account.clock.pass(day + 600);
  expect(await sent()).toMatchObject({ status: "sent", sentCount: 198, failedCount: 1, recipientCount: 199 });
  const opens = async () => (await get(`/api/reports/email/${(await sent())._id}`)).opens.unique;
  const early = await opens();
  account.clock.pass(5 * day);
  expect(await opens()).toBeGreaterThan(early);
  const skipped = await get(`/api/contact/${contacts[0]._id}/events?types=email-skipped,email-sent`);
  expect(skipped.records.map(({ type }: { type: string }) => type)).toEqual(["email-skipped"]);
});

test("Reports: the clock of a test moves them, without a request", async () => {
  const { account } = await seeded({ contacts: people(50), campaigns: [{ name: "A", status: "sent" }] });
  account.sandbox.admin.clock({ advance: "40d" });
  const [row] = account.sandbox.admin.requests({ path: "/api/*" });
  expect(row).toBeUndefined();
  expect((await account.call("GET", "/api/contact/events?types=email-sent&pastDays=90")).body.total).toBe(50);
});

test("Reports: a soft bounce leaves its contact active, a hard one does not", async () => {
  const { account, get } = await seeded({ contacts: people(2) });
  for (const [index, emailBounceType] of ["Transient", "Permanent"].entries()) {
    const event = { key: `p${index}@example.com`, type: "bounced", emailBounceType };
    await account.call("POST", "/__sandbox/events", event, { key: null });
  }
  const { stats } = await get("/api/reports/email/overall?pastDays=1");
  expect([stats.hardBounces, stats.softBounces, stats.totalBounces].map(({ count }) => count.value)).toEqual([
    1, 1, 2,
  ]);
  const contacts = await get("/api/contact");
  expect(contacts.map(({ status }: Reply["body"]) => status.secondary)).toEqual(["confirmed", "Bounce"]);
});

test("Reports: the same campaign, contact and seed draw the same; each mail has one fate", {
  tags: "slow",
}, () => {
  const campaign = { name: "News", content: {} };
  const draws = people(2000).map(({ key }) => drawMail(campaign, key, 0, 7));
  expect(people(2000).map(({ key }) => drawMail(campaign, key, 0, 7))).toEqual(draws);
  expect(people(2000).map(({ key }) => drawMail(campaign, key, 0, 8))).not.toEqual(draws);
  const kinds = new Set(draws.flat().map(({ type }) => type));
  expect([...kinds].sort()).toEqual([
    "contact-unsubscribed",
    "email-bounced",
    "email-clicked",
    "email-complaint",
    "email-delivered",
    "email-opened",
    "email-sent",
  ]);
  for (const events of draws) {
    const types = events.map(({ type }) => type);
    expect(types[0]).toBe("email-sent");
    expect(types.filter((type) => type === "email-bounced" || type === "email-delivered")).toHaveLength(1);
    expect(events.map(({ at }) => at)).toEqual(
      events.map(({ at }) => at).toSorted((one, other) => one - other),
    );
  }
});

test("Reports: days and hours are those of the zone, also where its clocks change", async () => {
  // In Oslo the clocks go back on 25 October 2026 at 03:00, so that the day has 25 hours.
  const { account, get } = await seeded({});
  account.sandbox.admin.clock({ time: "2026-10-24T12:00:00Z", frozen: true });
  account.sandbox.admin.seed({ contacts: people(100), campaigns: [{ name: "A", status: "sent" }] });
  account.sandbox.admin.clock({ time: "2026-10-26T12:00:00Z", frozen: true });
  const { records } = await get("/api/email/campaign");
  const path = `/api/reports/email/${records[0]._id}/engagement`;
  const hours = await get(`${path}?period=24hours&timezone=Europe/Oslo`);
  const names: string[] = hours.histogram.map(({ date }: { date: string }) => date);
  expect(names).toHaveLength(25);
  expect(new Set(names).size).toBe(25);
  expect(names).toContain("2026-10-25T02:00:00+02:00");
  expect(names).toContain("2026-10-25T02:00:00+01:00");
  expect(names[0]).toBe("2026-10-24T14:00:00+02:00");
  const days = await get(`${path}?period=week&timezone=Pacific/Auckland`);
  expect(days.histogram.map(({ date }: { date: string }) => date)).toEqual([
    "2026-10-25",
    "2026-10-26",
    "2026-10-27",
  ]);
  expect((await get(`${path}?timezone=Asia/Kathmandu&period=24hours`)).histogram[0].date).toBe(
    "2026-10-24T17:00:00+05:45",
  );
});

test("Reports: a snapshot keeps what is to come", async () => {
  const { account, get } = await seeded({
    contacts: people(20),
    campaigns: [{ name: "A", sentAt: "2026-06-16" }],
  });
  account.sandbox.admin.saveSnapshot("one");
  await account.call("POST", "/__sandbox/reset", {}, { key: null });
  expect((await get("/api/email/campaign")).total).toBe(0);
  account.sandbox.admin.loadSnapshot("one");
  account.clock.pass(2 * day);
  expect((await get("/api/email/campaign")).records[0].sentCount).toBe(20);
});

interface Event {
  type: string;
  timestamp: string;
  contactId: string;
  emailCampaignId?: string;
  emailBounceType?: string;
}

const firsts: Record<string, string> = {
  uniqueOpens: "email-opened",
  uniqueClicks: "email-clicked",
  unsubscribes: "contact-unsubscribed",
  complaints: "email-complaint",
};
const leaving: Record<string, string> = {
  "email-bounced": "Bounce",
  "email-complaint": "Complaint-FBL",
  "contact-unsubscribed": "Unsubscribe",
};
const sum = (numbers: number[]) => numbers.reduce((all, each) => all + each, 0);

async function holdTogether(
  { call }: TestAccount,
  {
    days: pastDays,
    zone: timezone,
    unsubscribed,
  }: { days: number; zone: string; unsubscribed: ReadonlySet<string> },
): Promise<void> {
  const get = async (path: string) => (await call("GET", path)).body;
  const zone = `timezone=${encodeURIComponent(timezone)}`;
  const all: Event[] = (await get("/api/contact/events?pastDays=90&size=1000")).records.toReversed();
  const within: Event[] = (await get(`/api/contact/events?pastDays=${pastDays}&size=1000`)).records;
  const span = new Set(within.map((event) => JSON.stringify(event)));
  const firstOnes = [
    ...new Map(
      all.toReversed().map((event) => [`${event.type} ${event.contactId} ${event.emailCampaignId}`, event]),
    ).values(),
  ];
  const isSoft = (event: Event) => event.emailBounceType === "Transient";
  const inSpan = (events: Event[], type: string) =>
    events.filter((event) => event.type === type && span.has(JSON.stringify(event)));
  const expected = {
    sent: inSpan(all, "email-sent").length,
    delivered: inSpan(all, "email-delivered").length,
    hardBounces: inSpan(all, "email-bounced").filter((event) => !isSoft(event)).length,
    softBounces: inSpan(all, "email-bounced").filter(isSoft).length,
    totalBounces: inSpan(all, "email-bounced").length,
    ...Object.fromEntries(
      Object.entries(firsts).map(([name, type]) => [name, inSpan(firstOnes, type).length]),
    ),
  };
  const overall = await get(`/api/reports/email/overall?pastDays=${pastDays}&${zone}`);
  const told = Object.entries<Reply["body"]>(overall.stats).map(([name, { count }]) => [name, count.value]);
  expect(Object.fromEntries(told)).toEqual(expected);
  expect(sum(Object.values(overall.deliveryTimeStats))).toBe(expected.delivered);

  const dashboard = await get(`/api/reports/dashboard?pastDays=${pastDays}&${zone}`);
  expect(dashboard.campaign.sent.count).toBe(expected.sent);
  expect(dashboard.campaign.uniqueOpens.count.value).toBe(overall.stats.uniqueOpens.count.value);
  for (const [name, type] of Object.entries({
    ...firsts,
    sent: "email-sent",
    totalBounces: "email-bounced",
  })) {
    const eventType = name in firsts ? `first-${type}` : type;
    const bars = await get(
      `/api/reports/email/overall/histogram?pastDays=${pastDays}&${zone}&eventType=${eventType}`,
    );
    const totals: number[] = bars.histogram.map(({ total }: { total: number }) => total);
    expect(sum(totals), eventType).toBe(overall.stats[name].count.value);
    expect(bars.peak.total).toBe(Math.max(...totals));
    expect(totals.length).toBeGreaterThanOrEqual(pastDays);
    expect(totals.length).toBeLessThanOrEqual(pastDays + 2);
  }

  const campaigns = (await get("/api/email/campaign?size=1000")).records;
  for (const { _id, sentCount } of campaigns) {
    const own = (type: string, events = all) =>
      events.filter((event) => event.type === type && event.emailCampaignId === _id).length;
    const report = await get(`/api/reports/email/${_id}`);
    expect([sentCount, report.sent]).toEqual([own("email-sent"), own("email-sent")]);
    expect(report.delivered + report.totalBounces).toBeLessThanOrEqual(report.sent);
    expect(report.totalBounces).toBe(report.hardBounces + report.softBounces);
    expect(report.opens.unique).toBe(own("email-opened", firstOnes));
    expect(report.clicks.unique).toBe(own("email-clicked", firstOnes));
    expect(sum(report.linkActivity.map(({ clicks }: { clicks: number }) => clicks))).toBe(
      own("email-clicked"),
    );
    const engagement = await get(`/api/reports/email/${_id}/engagement?period=month&${zone}`);
    const opened = engagement.histogram.map(({ detail }: Reply["body"]) => detail.uniqueOpens);
    expect(sum(opened)).toBeLessThanOrEqual(report.opens.unique);
  }

  // A contact is as the first thing that made it leave has left it, unless its status was written, and gets no mail afterwards.
  for (const contact of await get("/api/contact")) {
    const own = all.filter(({ contactId }) => contactId === contact._id);
    const last = own.findIndex((event) => event.type in leaving && !isSoft(event));
    const leftAs = last === -1 ? "confirmed" : leaving[own[last]!.type];
    const expectedStatus = unsubscribed.has(contact._id) ? "Unsubscribe" : leftAs;
    expect(contact.status.secondary, JSON.stringify(own)).toBe(expectedStatus);
    if (last !== -1) expect(own.slice(last).map(({ type }) => type)).not.toContain("email-sent");
  }
}

test("Reports: events, contacts and reports tell one story, whatever was sent and happened", {
  tags: "slow",
}, async () => {
  const step = fc.oneof(
    fc.record({ send: fc.constantFrom("everybody", "list"), inHours: fc.integer({ min: 0, max: 72 }) }),
    fc.record({ wait: fc.integer({ min: 1, max: 6 * day }) }),
    fc.record({
      event: fc.constantFrom("opened", "clicked", "bounced", "complained", "unsubscribed"),
      who: fc.nat(29),
    }),
    fc.record({ leave: fc.nat(29) }),
    fc.record({ remove: fc.nat(29) }),
  );
  const zones = fc.constantFrom("UTC", "Europe/Oslo", "America/St_Johns", "Pacific/Apia");
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 8 }),
      fc.integer({ min: 1, max: 40 }),
      zones,
      async (steps, days, zone) => {
        const lists = (index: number) => (index % 2 === 0 ? ["Even"] : []);
        const contacts = people(30).map((person, index) => ({ ...person, lists: lists(index) }));
        const { account } = await seeded({ contacts, lists: ["Even"] });
        const { call, clock } = account;
        const findId = async (who: number) =>
          (await account.search([{ columnToFilter: "KEY", operator: "EQ", values: [`p${who}@example.com`] }]))
            .body.contacts[0]?._id;
        const unsubscribed = new Set<string>();
        for (const [number, each] of steps.entries()) {
          if ("wait" in each) clock.pass(each.wait);
          else if ("send" in each) {
            const sentAt = new Date(clock.now() + each.inHours * 3_600_000).toISOString();
            const to = each.send === "list" ? { lists: ["Even"] } : {};
            const campaigns = [{ name: `C${number}`, sentAt, ...to }];
            await call("POST", "/__sandbox/seed", { campaigns }, { key: null });
          } else if ("event" in each) {
            const body = { key: `p${each.who}@example.com`, type: each.event };
            await call("POST", "/__sandbox/events", body, { key: null });
          } else {
            const id = await findId("leave" in each ? each.leave : each.remove);
            const status = { primary: "Inactive", secondary: "Unsubscribe" };
            if ("leave" in each) {
              await call("PATCH", `/api/contact/${id}`, { status });
              unsubscribed.add(id);
            } else await call("DELETE", `/api/contact/${id}`);
          }
          // No two things happen at one time.
          clock.pass(1);
        }
        await holdTogether(account, { days, zone, unsubscribed });
      },
    ),
    { numRuns: 20, examples: [[[{ event: "bounced", who: 4 }, { leave: 4 }], 1, "UTC"]] },
  );
});
