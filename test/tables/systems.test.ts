import { describe, expect, test } from "vitest";
import { formatCsvLine, joinNames, toSafeCell } from "../../src/delimited-lines.ts";
import { catchFailure, notesOf, read } from "./reading.ts";

const ignoreUnmapped = true;

describe("exports of other systems are read by their rules", () => {
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

  test.each(["UNSUB_TIME", "CLEAN_TIME"])(
    "Mailchimp: nobody in a file with %s is subscribed",
    async (column) => {
      const { rows } = await read(
        `Email Address,MEMBER_RATING,LEID,EUID,${column}\na@example.com,1,2,3,2024-03-01\nb@example.com,1,2,3,\n`,
      );
      expect(rows.map((row) => row.mark?.reason)).toEqual([`${column}: 2024-03-01`, `${column}: (empty)`]);
    },
  );

  test("Google: the first of several addresses, labels without the system's own", async () => {
    const { rows } = await read(
      "First Name,Last Name,File As,Labels,E-mail 1 - Label,E-mail 1 - Value\n" +
        "Bo,Kim,,Friends ::: * myContacts ::: Chess,* Work,bo@example.com ::: kim@example.org\n",
    );
    expect(rows[0]).toMatchObject({
      key: { sent: "bo@example.com" },
      tags: ["Friends", "Chess"],
      warnings: ["first_of_several"],
    });
  });

  test("Shopify: an apostrophe before numbers and formulas is taken off, no other", async () => {
    const { rows } = await read(
      "Customer ID,First Name,Last Name,Email,Accepts Email Marketing,Total Spent,City,Tags\n" +
        "'72,'Tis,'+1,a@example.com,yes,0,'89801,\"retail, ag-exempt\"\n",
    );
    expect(rows[0]?.fields).toEqual(
      new Map([
        ["f1", "'Tis"],
        ["f2", "+1"],
        ["f3", "89801"],
      ]),
    );
    expect(rows[0]?.tags).toEqual(["retail", "ag-exempt"]);
    expect(rows[0]?.cells[6]).toBe("'89801");
  });

  test("Constant Contact: lists and tags part at commas", async () => {
    const { rows } = await read(
      'Email address,Email status,Email Lists,Tags,Created At\na@example.com,Active,"News, Customers",vip,2024\n',
    );
    expect(rows[0]).toMatchObject({ lists: ["News", "Customers"], tags: ["vip"] });
  });

  test("Salesforce: the lines below the report are no rows", async () => {
    const { all } = await read(
      '"First Name","Email","Email Opt Out"\n"Elsa","elsa@example.com","0"\n"Bo","bo@example.com","1"\n\n\n"All Contacts"\n"Copyright (c) 2000-2026"\n',
    );
    expect(all).toMatchObject([
      { key: { sent: "elsa@example.com" } },
      { mark: { reason: "Email Opt Out: 1" } },
    ]);
    expect(all).toHaveLength(2);
  });

  test("Stripe: a column of metadata fills the field of its name", async () => {
    const { rows } = await read(
      "id,Email,Created (UTC),Delinquent,city (metadata)\ncus_1,a@example.com,2025,false,Rome\n",
    );
    expect(rows[0]?.fields).toEqual(new Map([["f3", "Rome"]]));
  });

  test("data columns without a field are still an error", async () => {
    const failure = await catchFailure(read("Email,Klaviyo ID,Zip Code\na@example.com,1,2\n"));
    expect(failure.message).toContain('1 column does not match any field: "Zip Code"');
  });

  test("a system that says nothing of consent is met with a warning", async () => {
    const { understood } = await read(
      "First Name,URL,Email Address,Position,Connected On\nA,u,a@example.com,p,c\n",
      { ignoreUnmapped },
    );
    expect(notesOf(understood)[1]).toMatch(/LinkedIn connections export says nothing about consent/);
  });

  test("--from names the system; an unknown name is refused with the known ones", async () => {
    const { understood, rows } = await read("Email,Status\na@example.com,Bounced\n", {
      from: "ActiveCampaign",
    });
    expect(understood.facts.system).toBe("activecampaign");
    expect(rows[0]?.mark?.reason).toBe("Status: Bounced");
    expect((await catchFailure(read("Email\n", { from: "mailchip" }))).hint).toMatch(
      /^Known: ecm, mailchimp, /,
    );
  });
});

describe("a row that its own file marks as not subscribed says so", () => {
  test.each([
    ["Email,Klaviyo ID,Email Marketing Consent,Email Suppressions", "a@example.com,1,SUBSCRIBED,", undefined],
    [
      "Email,Klaviyo ID,Email Marketing Consent,Email Suppressions",
      "a@example.com,1,NEVER_SUBSCRIBED,",
      "Email Marketing Consent: NEVER_SUBSCRIBED",
    ],
    [
      "Email,Klaviyo ID,Email Marketing Consent,Email Suppressions",
      "a@example.com,1,SUBSCRIBED,HARD_BOUNCE",
      "Email Suppressions: HARD_BOUNCE",
    ],
    ["CONTACT ID;EMAIL;EMAIL_BLACKLISTED", "1;a@example.com;Yes", "EMAIL_BLACKLISTED: Yes"],
    ["CONTACT ID;EMAIL;EMAIL_BLACKLISTED", "1;a@example.com;No", undefined],
    [
      "Record ID,Email,Unsubscribed from all email",
      "1,a@example.com,true",
      "Unsubscribed from all email: true",
    ],
    ["Record ID,Email,Unsubscribed from all email", "1,a@example.com,", undefined],
    ["Email,Accepts Email Marketing,Total Orders", "a@example.com,no,0", "Accepts Email Marketing: no"],
    ["Email address,Email status,Email Lists", "a@example.com,Unsubscribed,", "Email status: Unsubscribed"],
    ["key,status", "a@example.com,Inactive", "status: Inactive"],
    ["key,status", "a@example.com,Active", undefined],
    ["key,status", "a@example.com,", undefined],
  ])("%s: %s", async (header, line, notSubscribed) => {
    const { rows } = await read(`${header}\n${line}\n`, { ignoreUnmapped });
    expect(rows[0]?.mark?.reason).toBe(notSubscribed);
  });

  test("--consent-column names a column without regard to case", async () => {
    const { rows } = await read("Email,OK to mail\na@example.com,Ja\nb@example.com,\n", {
      consentColumns: ["ok to MAIL"],
    });
    expect(rows.map((row) => row.mark?.reason)).toEqual([undefined, "OK to mail: (empty)"]);
  });

  test("a consent column that is not there is refused; one that is told to be ignored is, and said so", async () => {
    expect((await catchFailure(read("Email\n", { consentColumns: ["Optin"] }))).message).toContain(
      "--consent-column names a column that does not exist",
    );
    const { rows, understood } = await read("key,status\na@example.com,Inactive\n", {
      map: new Map([["status", "ignore"]]),
    });
    expect(rows[0]?.mark?.reason).toBeUndefined();
    expect(notesOf(understood)).toContain(
      '"status" looks like consent but is ignored, because of --map status=ignore',
    );
  });
});

describe("our own exports", () => {
  test("names with commas and quotes come back whole", async () => {
    const lists = ["News, weekly", 'The "best"'];
    const text = `${formatCsvLine(["key", "City", "lists", "tags", "status", "createdAt"])}\n${formatCsvLine(["a@example.com", "", joinNames(lists), joinNames([]), "Active", "2026-01-01"])}\n`;
    const { rows, understood } = await read(text);
    expect(understood.facts.system).toBe("ecm");
    expect(rows[0]).toMatchObject({ lists, tags: [], fields: new Map([["f3", ""]]) });
  });

  test("built-in columns are told from fields of the same name by their prefix", async () => {
    const structure = {
      _id: "s",
      label: "Default",
      keyName: "Email",
      keyType: "email",
      fields: [{ _id: "f9", label: "Status", dataType: "text" }],
    };
    const { rows } = await read(
      "ecm:key,Status,ecm:status,ecm:tags\na@example.com,gold,Inactive,x\n",
      {},
      structure,
    );
    expect(rows[0]).toMatchObject({
      fields: new Map([["f9", "gold"]]),
      mark: { reason: "ecm:status: Inactive" },
      tags: ["x"],
    });
  });

  test("--safe-cells is undone exactly, in files that say so alone", async () => {
    const cities = ["=1+1", "'quoted'", "''", "-5", "@home", "plain"];
    const lines = cities.map((city) => formatCsvLine(["a@example.com", city, ""].map(toSafeCell)));
    const safe = await read(`key,City,ecm:safe-cells\n${lines.join("\n")}\n`);
    expect(safe.rows.map((row) => row.fields.get("f3"))).toEqual(cities);
    const plain = await read(`key,City\n${lines.join("\n")}\n`);
    expect(plain.rows.map((row) => row.fields.get("f3"))).toEqual(cities.map(toSafeCell));
  });

  test("a rejects file, once mended, reads as it is", async () => {
    const { rows } = await read(
      "Email,City,ecm_line,ecm_error,ecm_message\na@example.com,Rome,7,key_syntax,x\n",
    );
    expect(rows[0]?.fields).toEqual(new Map([["f3", "Rome"]]));
  });
});
