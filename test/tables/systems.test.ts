import { expect, test } from "vitest";
import { formatCsvLine, toSafeCell } from "../../src/delimited-lines.ts";
import { notesOf, read, refuses, structure } from "./reading.ts";

test("Mailchimp: tags are a record within a cell, bookkeeping is ignored and said so", async () => {
  const { rows, understood } = await read(
    '"Email Address","First Name",MEMBER_RATING,OPTIN_TIME,LEID,EUID,TAGS\n' +
      'a@example.com,Ada,3,"2024-01-01 10:00:00",1,2,"""VIP, gold"",""a """"quoted"""" one"",Blog"\n',
  );
  expect(understood.facts.system).toBe("mailchimp");
  expect(notesOf(understood)).toEqual([
    "Read as a Mailchimp export",
    "Ignored columns of a Mailchimp export: MEMBER_RATING, OPTIN_TIME, LEID, EUID",
  ]);
  expect(rows[0]?.tags).toEqual(["VIP, gold", 'a "quoted" one', "Blog"]);
  expect(rows[0]?.mark?.reason).toBeUndefined();
});

test.each([
  [
    "Google: the first of several addresses, labels without the system's own",
    "First Name,Last Name,File As,Labels,E-mail 1 - Label,E-mail 1 - Value",
    "Bo,Kim,,Friends ::: * myContacts ::: Chess,* Work,bo@example.com ::: kim@example.org",
    { key: { sent: "bo@example.com" }, tags: ["Friends", "Chess"], warnings: ["first_of_several"] },
  ],
  [
    "Shopify: an apostrophe before numbers and formulas is taken off, no other",
    "Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Total Spent,City,Tags",
    "'72,'Tis,'+1,a@example.com,yes,0,'89801,\"retail, ag-exempt\"",
    {
      fields: new Map(Object.entries({ f1: "'Tis", f2: "+1", f3: "89801" })),
      tags: ["retail", "ag-exempt"],
      cells: ["'72", "'Tis", "'+1", "a@example.com", "yes", "0", "'89801", "retail, ag-exempt"],
    },
  ],
  [
    "Constant Contact: lists and tags part at commas",
    "Email address,Email status,Email Lists,Tags,Created At",
    'a@example.com,Active,"News, Customers",vip,2024',
    { lists: ["News", "Customers"], tags: ["vip"] },
  ],
  [
    "Stripe: a column of metadata fills the field of its name",
    "id,Email,Created (UTC),Delinquent,city (metadata)",
    "cus_1,a@example.com,2025,false,Rome",
    { fields: new Map([["f3", "Rome"]]) },
  ],
  [
    "a rejects file, once mended",
    "Email,City,ecm_line,ecm_error,ecm_message",
    "a@example.com,Rome,7,key_syntax,x",
    { fields: new Map([["f3", "Rome"]]) },
  ],
])("%s", async (_what, header, line, row) => {
  expect((await read(`${header}\n${line}\n`)).rows).toMatchObject([row]);
});

test("Salesforce: the lines below the report are no rows", async () => {
  const { all } = await read(
    '"First Name","Email","Email Opt Out"\n"Elsa","elsa@example.com","0"\n"Bo","bo@example.com","1"\n\n\n"All Contacts"\n"Copyright (c) 2000-2026"\n',
  );
  expect(all.map((row) => row.kind === "row" && [row.key.sent, row.mark?.reason])).toEqual([
    ["elsa@example.com", undefined],
    ["bo@example.com", "Email Opt Out: 1"],
  ]);
});

test("a system that says nothing of consent is met with a warning", async () => {
  const text = "First Name,URL,Email Address,Position,Connected On\nA,u,a@example.com,p,c\n";
  const { understood } = await read(text, { ignoreUnmapped: true });
  expect(notesOf(understood)[1]).toMatch(/LinkedIn connections export says nothing about consent/);
});

test("--from names the system; an unknown name is refused with the known ones", async () => {
  const text = "Email,Status\na@example.com,Bounced\n";
  const { understood, rows } = await read(text, { from: "ActiveCampaign" });
  expect(understood.facts.system).toBe("activecampaign");
  expect(rows[0]?.mark?.reason).toBe("Status: Bounced");
  await refuses(read("Email\n", { from: "mailchip" }), "mailchip", /^Known: ecm, mailchimp, /);
});

const klaviyo = "Email,Klaviyo ID,Email Marketing Consent,Email Suppressions";
const timed = "Email,Klaviyo ID,First Active,Last Open";
const mailchimp = "Email Address,MEMBER_RATING,LEID,EUID";
const hubspot = "Record ID,Email,Unsubscribed from all email";

test("a row says that its file marks it, also where the system is recognised without its columns of consent", async () => {
  const { understood, rows } = await read(`${timed},Unsubscribed Timestamp\na@x.org,1,2,3,2024-03-01\n`);
  expect(understood.facts.system).toBe("klaviyo");
  expect(rows[0]?.mark?.reason).toBe("Unsubscribed Timestamp: 2024-03-01");
});

test.each([
  // Nobody in such a file is subscribed.
  [`${mailchimp},UNSUB_TIME`, "a@x.org,1,2,3,2024-03-01", "UNSUB_TIME: 2024-03-01"],
  [`${mailchimp},UNSUB_TIME`, "a@x.org,1,2,3,", "UNSUB_TIME: (empty)"],
  [`${mailchimp},CLEAN_TIME`, "a@x.org,1,2,3,", "CLEAN_TIME: (empty)"],
  // A column that the system's own rules do not know.
  [`${mailchimp},Unsubscribed`, "a@x.org,1,2,3,yes", "Unsubscribed: yes"],
  [`${mailchimp},Unsubscribed`, "a@x.org,1,2,3,no", undefined],
  [`${mailchimp},Unsubscribed at`, "a@x.org,1,2,3,2024-03-01", "Unsubscribed at: 2024-03-01"],
  [`${mailchimp},Unsubscribed at`, "a@x.org,1,2,3,", undefined],
  [`${mailchimp},Cleaned`, "a@x.org,1,2,3,yes", "Cleaned: yes"],
  [`${mailchimp},Cleaned`, "a@x.org,1,2,3,no", undefined],
  [`${timed},Unsubscribed Timestamp`, "a@x.org,1,2,3,", undefined],
  [klaviyo, "a@x.org,1,SUBSCRIBED,", undefined],
  [klaviyo, "a@x.org,1,NEVER_SUBSCRIBED,", "Email Marketing Consent: NEVER_SUBSCRIBED"],
  [klaviyo, "a@x.org,1,SUBSCRIBED,HARD_BOUNCE", "Email Suppressions: HARD_BOUNCE"],
  ["CONTACT ID;EMAIL;EMAIL_BLACKLISTED", "1;a@x.org;Yes", "EMAIL_BLACKLISTED: Yes"],
  ["CONTACT ID;EMAIL;EMAIL_BLACKLISTED", "1;a@x.org;No", undefined],
  [hubspot, "1,a@x.org,true", "Unsubscribed from all email: true"],
  [hubspot, "1,a@x.org,", undefined],
  ["Email,Accepts Email Marketing,Total Orders", "a@x.org,no,0", "Accepts Email Marketing: no"],
  ["Email address,Email status,Email Lists", "a@x.org,Unsubscribed,", "Email status: Unsubscribed"],
  ["key,status", "a@x.org,Inactive", "status: Inactive"],
  ["key,status", "a@x.org,Active", undefined],
  ["key,status", "a@x.org,", undefined],
])("a row says why it is not subscribed: %s: %s", async (header, line, notSubscribed) => {
  const { rows } = await read(`${header}\n${line}\n`, { ignoreUnmapped: true });
  expect(rows.map(({ mark }) => mark?.reason)).toEqual([notSubscribed]);
});

test("--consent-column names a column without regard to case", async () => {
  const text = "Email,OK to mail\na@example.com,Ja\nb@example.com,\n";
  const { rows } = await read(text, { consentColumns: ["ok to MAIL"] });
  expect(rows.map((row) => row.mark?.reason)).toEqual([undefined, "OK to mail: (empty)"]);
});

test("a column that is told to be ignored marks no row, which is said", async () => {
  const text = "key,status\na@example.com,Inactive\n";
  const { rows, understood } = await read(text, { map: [["status", "ignore"]] });
  expect(rows.map(({ mark }) => mark?.reason)).toEqual([undefined]);
  const said = '"status" looks like consent but is ignored, because of --map status=ignore';
  expect(notesOf(understood)).toContain(said);
});

test("a field that may be consent is none only where the status of anybody is told", async () => {
  const fields = [...structure.fields, { _id: "f4", label: "Newsletter", dataType: "text" }];
  const header = "key,Newsletter,lists,tags,status,createdAt";
  const readWith = (status: string) =>
    read(`${header}\na@x.org,no,,,${status},\nb@x.org,yes,,,${status},\n`, {}, { ...structure, fields });
  expect((await readWith("active")).rows.map(({ mark }) => mark)).toEqual([undefined, undefined]);
  await refuses(readWith(""), '"Newsletter" may say who is subscribed');
});

test("built-in columns are told from fields of the same name by their prefix", async () => {
  const account = { ...structure, fields: [{ _id: "f9", label: "Status", dataType: "text" }] };
  const text = "ecm:key,Status,ecm:status,ecm:tags\na@example.com,gold,Inactive,x\n";
  const { rows } = await read(text, {}, account);
  const mark = { reason: "ecm:status: Inactive" };
  expect(rows[0]).toMatchObject({ fields: new Map([["f9", "gold"]]), mark, tags: ["x"] });
});

test("--safe-cells is undone exactly, in files that say so alone", async () => {
  const cities = ["=1+1", "'quoted'", "''", "-5", "@home", "plain"];
  const lines = cities.map((city) => formatCsvLine(["a@example.com", city, ""].map(toSafeCell)));
  const safe = await read(`key,City,ecm:safe-cells\n${lines.join("\n")}\n`);
  expect(safe.rows.map((row) => row.fields.get("f3"))).toEqual(cities);
  const plain = await read(`key,City\n${lines.join("\n")}\n`);
  expect(plain.rows.map((row) => row.fields.get("f3"))).toEqual(cities.map(toSafeCell));
});
