/** What files of the world say of consent: by names and words that a native reader can check. */
import { expect, test } from "vitest";
import { findConsentName } from "../../src/tables/consent/consent-names.ts";
import type { ReadOptions } from "../../src/tables/rows.ts";
import { notesOf, read, refuses } from "./reading.ts";

/** Who may be mailed: the local parts of their addresses. */
async function mailed(text: string, options: Partial<ReadOptions> = {}): Promise<string> {
  const { rows } = await read(text, { ignoreUnmapped: true, ...options });
  return rows
    .filter((row) => row.mark?.reason === undefined)
    .map((row) => row.key.sent.split("@")[0])
    .join(" ");
}

/** The entries of a line of a table. */
const listed = (line: string) => line.split(", ");

/** Exports, one a line: what writes them, and their rows; `@` is an address. */
const exportsOf = (table: string) =>
  [...table.matchAll(/^ *(.+?): (.*)$/gm)].map(([, name, rows]): [string, string] => [
    name!,
    `${rows!.replaceAll(/ +\/ /g, "\n").replaceAll("@", "@example.com")}\n`,
  ]);

/** Columns, one a line: the name, cells that mean subscribed, and cells that do not. */
const cellsOf = (table: string) =>
  [...table.replaceAll(/ {3,}(?=\S)/g, " ").matchAll(/^ *(.+?): (.*) \| (.*)$/gm)].map(
    ([, name, subscribed, out]): [string, string, string] => [name!, subscribed!, out!],
  );

/** A file of one further column: `in` cells mean subscribed, `out` cells do not. */
async function split(column: string, subscribed: string, out: string): Promise<void> {
  const lines = (prefix: string, cells: string[]) =>
    cells.map((cell, index) => `${prefix}${index}@example.com,"${cell}"\n`).join("");
  const text = `Email,"${column}"\n${lines("in", listed(subscribed))}${lines("out", listed(out))}`;
  expect(await mailed(text)).toBe(
    listed(subscribed)
      .map((_, index) => `in${index}`)
      .join(" "),
  );
}

const optIn = {
  english:
    "Opt-In, opt_in, OptIn, Email Opt In, Subscribed, Is Subscribed, Email Consent, Marketing Consent, Accepts Marketing, accepts_marketing, Newsletter Permission, Consent, GDPR Consent, Double Opt-In, hasOptedIn, OK to mail, Can Email",
  german:
    "Einwilligung, Newsletter-Einwilligung, Zustimmung, Werbeeinwilligung, Newsletter abonniert, E-Mail erlaubt",
  french: "Consentement, Consentement e-mail, Abonné, Inscrit, Inscrit à la newsletter",
  spanish: "Consentimiento, Consentimiento de marketing, Suscrito, Acepta publicidad",
  italian: "Consenso, Consenso marketing, Iscritto",
  portuguese: "Consentimento, Inscrito, Aceita e-mails",
  dutch: "Toestemming, Marketingtoestemming, Ingeschreven",
  nordic: "Samtycke, Samtykke, Prenumererar, Tilmeldt, Påmeldt, Markkinointilupa, Suostumus",
  slavic: "Zgoda, Zgoda marketingowa, Souhlas, Согласие, Подписан",
  japanese: "メール配信希望, 同意, 配信希望, 受信許可, オプトイン",
  chinese: "是否订阅, 接收邮件",
  korean: "수신동의, 이메일 수신 동의",
};
const optOut = {
  english:
    "Unsubscribed, unsubscribed_at, Opt-Out, Opted Out, Email Opt Out, HasOptedOutOfEmail, Do Not Email, doNotEmail, DoNotBulkEMail, Do not contact, Blacklisted, EMAIL_BLACKLISTED, Suppressed, Bounced, Hard bounced, Complained, Marked as spam, Not subscribed, No Email",
  german:
    "Abgemeldet, Abgemeldet am, Newsletter abgemeldet, Abmeldung, Abbestellt, Werbesperre, Keine Werbung, Sperrliste, Einwilligung widerrufen",
  french: "Désinscrit, Désabonné, Date de désinscription, Ne pas contacter, Liste noire",
  spanish: "Baja, Fecha de baja, Dado de baja, Desuscrito, No enviar",
  italian: "Disiscritto, Data disiscrizione, Non contattare, Lista nera",
  portuguese: "Descadastrado, Data de descadastro, Não enviar",
  dutch: "Afgemeld, Uitgeschreven, Afmelddatum, Geen nieuwsbrief",
  nordic: "Avregistrerad, Avprenumererad, Afmeldt, Avmeldt, Markkinointikielto",
  slavic: "Wypisany, Rezygnacja, Odhlášen, Отписан, Отписка",
  japanese: "配信停止, 配信停止日, 退会, 受信拒否, 配信不要",
  chinese: "退订, 已退订, 取消订阅, 黑名单",
  korean: "수신거부, 구독취소, 탈퇴",
};
// About other channels than e-mail; about them and e-mail; and about no consent.
const otherChannel = {
  english:
    "SMS Opt-In, SMS_BLACKLISTED, Accepts SMS Marketing, Phone consent, Do Not Call, DoNotPhone, WhatsApp opt in, Push subscribed, HasOptedOutOfFax",
  german: "Telefon-Einwilligung",
};
const unclear = {
  english: "Email and SMS consent, Opt-in E-Mail/Telefon, Newsletter SMS unsubscribed, Unsubscribed by phone",
};
const other = {
  any: "City, Stadt, Last Name, Surname, Notes, Company, Options, Postal code, Street, Birthday, Phone, Lead Source, Created At, Score, Contact owner, Balance, Gender",
};
const kinds: Record<string, Record<string, string>> = { optIn, optOut, otherChannel, unclear, other };
const names = Object.entries(kinds).flatMap(([kind, lines]) =>
  Object.entries(lines).flatMap(([language, line]) => listed(line).map((name) => [language, name, kind])),
);
test.each(names)("%s: %s is %s", (_language, name, kind) => {
  expect(findConsentName(name!) ?? "other").toBe(kind);
});

test.each(
  cellsOf(`
    Status: subscribed, Active, opted-in, SUBSCRIBED, Opt In | unsubscribed, Opted Out, cleaned, bounced, \
      complained, Hard Bounced, do not email, NEVER_SUBSCRIBED, inactive, pending, unconfirmed, \
      spam complaint, unsubscribed on 3 May 2024, User unsubscribed, Contact has opted out
    Status: angemeldet, aktiv, abonniert | abgemeldet, ausgetragen, nicht abonniert, inaktiv
    Statut: abonné, inscrite, actif | désabonné, désinscrite, Désinscrit, desabonne
    Estado: suscrito, activo, alta | baja, dado de baja, desuscrito, inactivo
    Stato: iscritto, attivo | disiscritto, non iscritto, inattivo
    Status: ingeschreven, actief | uitgeschreven, afgemeld
    Situação: inscrito, ativo | descadastrado, cancelou a inscrição, inativo
    Status: prenumererar, aktiv | avregistrerad, avprenumererad
    Status: tilmeldt, aktiv | afmeldt, avmeldt
    Tila: tilaaja, aktiivinen | tilaus peruttu, ei tilaaja
    Status: zapisany, aktywny | wypisany, rezygnacja
    Stav: přihlášen, aktivní | odhlášen, odhlášený
    Статус: подписан, активен | отписан, отписалась, чёрный список
    ステータス: 購読中, 配信中, 有効, 登録済み | 配信停止, 退会, 購読解除, 無効
    状态: 已订阅, 订阅 | 退订, 已退订, 取消订阅
    상태: 구독, 구독중 | 수신거부, 구독취소`),
)("%s: %s / %s", split);

// Programs write for no date day 0 of spreadsheets, or the first day of a calendar. Marks around a word say
// nothing; before it, an exclamation mark may mean no.
test.each(
  cellsOf(`
    Opt-In: yes, Y, true, TRUE, 1, 1.0, x, X, ✓, on, ja, J, Oui, sí, Sì, si, sim, да, はい, 是, 예, tak, ano, \
      evet, kyllä, ○, 同意する, Subscribed, opted-in | no, N, false, 0, 0.0, nein, Non, não, nee, nej, ei, \
      nie, нет, いいえ, 否, ×, 아니요, hayır, perhaps, unsubscribed, opted out, bounced
    Unsubscribed: no, false, 0, nein, non, いいえ, 否, ×, , -, N/A, NULL | yes, true, 1, ja, oui, sì, はい, 是, \
      x, 2024-03-01, 3, Too many mails
    Unsubscribed at: , 0000-00-00, 0000-00-00 00:00:00, NULL, 0001-01-01, 1900-01-00, 1970-01-01 00:00:00, \
      0000000000 | 2024-03-01 10:00:00, 01.03.2024, 3/1/24 9:30, 2024-03-01T10:00:00Z, 1709287200, \
      1 March 2024
    Opt-In Date: 2024-03-01, 01.03.2024 10:15, 2024-03-01T10:00:00Z | , 0000-00-00, no
    Opt-In Date: 2024-03-01, 01.03.2024, 2001-01-01, 01.01.01 | 0001-01-01T00:00:00Z, \
      1/1/0001 12:00:00 AM, 1900-01-00, 00.01.1900, 1/0/1900, 1899-12-30, 12/31/1899, 01.01.1900, \
      1970-01-01 00:00:00, 1969-12-31 19:00:00, 0000000000
    Status: subscribed!, Active!!, ¡suscrito!, [subscribed] | Unsubscribed!, unsubscribed !, ABGEMELDET!!, \
      Désinscrit !, 退订！, Baja!, !subscribed, ! subscribed, subscribed?!
    Unsubscribed: no!, No., N/A!, - | yes!, Ja!, x!, 1!, 2024-01-01!, !no
    メール配信希望: 希望する, はい, 可, ○ | 希望しない, いいえ, 不可, ×, 否
    Do not allow Bulk Emails: Allow | Do Not Allow
    配信停止: ×, いいえ | ○, はい, 配信停止
    Hard bounces: 0,  | 1, 2
    Opt-In: yes, 1 | -1, −1, +1, yes?, yes*, yes/no, 2
    Opt-Out: no, 0 | -1, no?, ?, maybe, 2
    Status: subscribed | unsubscribed, subscribed?, subscribed*, 2024-01-01
    Status: subscribed | Un subscribed, Opted\u2011out, Unsubscribed*, UNSUBSCRİBED, uns\u00adubscribed, \
      un\u200bsubscribed, No longer subscribed, revoked, withdrawn, STOP, ABONELİKTEN ÇIKTI, Ｕｎｓｕｂｓｃｒｉｂｅｄ`),
)("%s: %s / %s", split);

test.each(["Newsletter", "Subscription", "Marketing", "E-Mail-Marketing"])(
  "%s: a name that does not say what a yes means is asked about",
  async (column) => {
    const text = `Email,${column}\na@example.com,ja\nb@example.com,nein\nc@example.com,\n`;
    const asked = "read as opt-in it leaves out 2 of 3 rows, as opt-out 1";
    await refuses(read(text, { ignoreUnmapped: true }), asked, `--consent-column ${column}=opt-in`);
    expect(await mailed(text, { consentColumns: [`${column}=opt-in`] })).toBe("a");
    expect(await mailed(text, { consentColumns: [`${column}=opt-out`] })).toBe("b c");
    await refuses(read(text, { consentColumns: [`${column}=none`] }), column);
    expect(await mailed(text, { map: [[column, "consent=opt-in"]] })).toBe("a");
    expect(await mailed(text, { map: [[column, "ignore"]] })).toBe("a b c");
    await refuses(read(text, { consentColumns: [column] }), column);
  },
);

test("a column that is empty in every row says nothing; one that is not asks for a yes", async () => {
  expect(await mailed("Email,Opt-In\na@example.com,\nb@example.com,\n")).toBe("a b");
  expect(await mailed("Email,Opt-In\na@example.com,yes\nb@example.com,\n")).toBe("a");
  expect(await mailed("Email,Opt-In\na@example.com,\n", { consentColumns: ["Opt-In"] })).toBe("");
});

test.each(["0000-00-00", "1970-01-01 00:00:00", "0001-01-01"])(
  "a column of nothing but %s, which means never, is not empty: nobody in it has agreed",
  async (never) => {
    expect(await mailed(`Email,Opt-In Date\na@example.com,${never}\n`)).toBe("");
    expect(await mailed(`Email,Unsubscribed At\na@example.com,${never}\n`)).toBe("a");
  },
);

test.each(
  exportsOf(`
    Salesforce contacts: Email,HasOptedOutOfEmail,DoNotCall / a@,FALSE,TRUE / z@,TRUE,FALSE
    Dynamics 365: E-mail,Do not allow Emails,Do not allow Phone Calls \
      / a@,Allow,Do Not Allow / z@,Do Not Allow,Allow
    Zoho CRM: Email,Email Opt Out,Lead Status / a@,false,Contacted / z@,true,Contacted
    HubSpot, one subscription: Record ID,Email,Unsubscribed from all email,Opted out of email: Marketing Information \
      / 1,a@,false,false / 2,z@,false,true
    HubSpot, hard bounce: Record ID,Email,Unsubscribed from all email,Email hard bounce reason \
      / 1,a@,, / 2,z@,,UNKNOWN_USER
    Shopify with an own column: Customer ID,Email,Accepts Email Marketing,Total Spent,Unsubscribed \
      / 1,a@,yes,0,no / 2,z@,yes,0,yes
    Brevo, a no in OPT_IN: CONTACT ID;EMAIL;EMAIL_BLACKLISTED;OPT_IN;ADDED_TIME / 1;a@;No;;x / 2;z@;No;No;x
    Constant Contact: Email address,Email status,Email permission status \
      / a@,Active,Express / z@,Active,Unsubscribed
    listmonk: uuid,email,name,attributes,status / 1,a@,A,{},enabled / 2,z@,Z,{},blocklisted
    Sendy: Name,Email,Status / A,a@,Subscribed / Z,z@,Marked as spam
    MailerLite: Email,Status,Unsubscribed / a@,Active, / z@,Active,2024-01-02 10:00:00
    Campaign Monitor: Email Address,State,Consent to track / a@,Active,Yes / z@,Deleted, / y@,Unsubscribed,Yes
    GetResponse: email,consent Marketing / a@,accepted / z@,revoked
    SendGrid global: email,created,unsubscribed / a@,1609459200, / z@,1609459200,1609459999
    Mautic: email,dnc_email,doNotContact / a@,0,0 / z@,0,1
    CleverReach: E-Mail;Aktiv;Abgemeldet am / a@;1; / z@;0;12.03.2024
    rapidmail: E-Mail-Adresse;Status;Abgemeldet / a@;aktiv; / z@;abgemeldet;01.02.2024
    Sarbacane (fr): Email;Désinscrit;NPAI / a@;non;non / z@;oui;non
    Acumbamail (es): Correo;Estado / a@;Activo / z@;Baja
    Doppler (es): Email;Desuscripto;Fecha de baja / a@;; / z@;;03/02/2024
    MailUp (it): Email;Stato / a@;Iscritto / z@;Disiscritto
    RD Station (pt): Email;Descadastrado em / a@; / z@;2024-02-03
    Laposta (nl): E-mailadres;Status / a@;Actief / z@;Afgemeld
    Get a Newsletter (sv): E-post;Avregistrerad / a@;nej / z@;ja
    FreshMail (pl): E-mail;Stan / a@;Aktywny / z@;Wypisany
    UniSender (ru): Email;Статус / a@;активен / z@;отписан
    配配メール (ja): メールアドレス,配信状態 / a@,配信中 / z@,配信停止
    ec-cube (ja): メールアドレス,メールマガジン送付について / a@,受け取る / z@,受け取らない
    有赞 (zh): 邮箱,订阅状态 / a@,已订阅 / z@,已退订
    Stibee (ko): 이메일,상태 / a@,구독 / z@,수신거부
    Substack: Email,Type,Email disabled / a@,free,false / z@,free,true
    Ghost: id,email,subscribed_to_emails,deleted_at / 1,a@,true, / 2,z@,false,
    Intercom: Email,Unsubscribed from Emails,Hard bounced,Marked email as spam \
      / a@,false,false,false / z@,false,false,true
    Marketo: Email Address,Unsubscribed,Email Invalid,Marketing Suspended,Black Listed \
      / a@,0,0,0,0 / z@,0,0,1,0
    Pipedrive: Email,Marketing status / a@,Subscribed / z@,No consent / y@,Unsubscribed
    Omnisend: email,email_status / a@,subscribed / z@,nonSubscribed
    Shopware 6: email,status / a@,optIn / z@,optOut
    OXID: OXUSERNAME,Email,OXDBOPTIN / x,a@,1 / x,z@,0
    MailPoet: Email,Global status / a@,Subscribed / z@,Bounced / y@,Unconfirmed
    Squarespace: Email,Accepts Marketing / a@,true / z@,false
    BigCommerce: Email,Receive Marketing Emails? / a@,Y / z@,N
    Raiser's Edge: Email,Requests no e-mail / a@,No / z@,Yes
    an address check: Email,Email Status / a@,valid / z@,bounced
    words within a text: Email,Status / a@,active / z@,User unsubscribed via link
    no name at all: Email,X7 / a@,active / z@,unsubscribed
    a spreadsheet's formula: Email,Opt-Out / a@,="no" / z@,="yes"
    a spreadsheet's apostrophe: Email,Opt-In / a@,'yes / z@,'no
    several columns, which must all allow: Email,Opt-In,Bounced / a@,yes,no / b@,yes,yes / c@,no,no / d@,,
    a mark that maps to a field: Email,City,Opt-Out / a@,Rome,0 / z@,Rome,1`),
)("who left is not created: %s", async (_name, text) => expect(await mailed(text)).toBe("a"));

test("who left is not created: a mark far down", async () => {
  const many = "a@example.com,subscribed\n".repeat(300);
  const rows = await mailed(`Email,Status\n${many}z@example.com,unsubscribed\n`);
  expect(rows).toBe("a ".repeat(300).trim());
});

test.each(
  exportsOf(`
    AWeber: Email,Stop Time,Stop Status / a@,, / z@,2024-01-02,unsubscribed
    JTL-Shop: Email;Newsletter / a@;Y / z@;N
    Shopware 5: email,newsletter / a@,1 / z@,0
    PrestaShop (fr): Adresse e-mail;Newsletter;Offres partenaires / a@;Oui;Non / z@;Non;Non
    Mailjet: email,isexcludedfromcampaigns,Exclu / a@,false,non / z@,true,oui
    Access: Email,Newsletter / a@,-1 / z@,0
    typed by hand: Email,Bemerkung,raus?,Newsletter bitte / a@,,,ja / z@,,x,nein`),
)("it is asked what a yes means: %s", async (_name, text) => {
  const hint = /--consent-column .*=opt-in.*=opt-out.*--map .*=ignore/;
  await refuses(read(text, { ignoreUnmapped: true }), "", hint);
});

test.each(
  exportsOf(`
    stops of other things: Email,Stop Status / a@, / b@,Bus stop 3
    cities and surnames: Email,City,Last Name / a@,Baja,Spam / b@,Oslo,Left
    one row of them: Email,City,Last Name / a@,Baja,Spam
    states: Email,State / a@,TX / b@,Baja California
    customers' status: Email,Status,Lead Status / a@,lead,NEW / b@,customer,inactive
    inactive alone: Email,Status / a@,active / b@,inactive
    status texts: Email,Status / a@,has not unsubscribed / b@,never bounced
    notes: Email,Notes / a@,unsubscribed from the phone plan / b@,unsubscribed
    subscriptions to other things: Email,Subscription,Plan / a@,Gold,yes / b@,Silver,no
    other channels: Email,SMS Opt-In,Do Not Call / a@,no,yes / b@,yes,no
    newsletters by name: Email,Newsletter / a@,Weekly / b@,Monthly
    links: Email,Unsubscribe URL,Opt-in IP \
      / a@,https://example.com/u/1,192.0.2.1 / b@,https://example.com/u/2,
    orders: Email,Order Status,Payment Status / a@,cancelled,paid / b@,shipped,refunded
    complaints of customers: Email,Complaints / a@,late delivery / b@,`),
)("nobody left: %s", async (_name, text) => {
  const count = text.trim().split("\n").length - 1;
  expect((await mailed(text)).split(" ")).toHaveLength(count);
});

test("another channel and an empty column are said", async () => {
  const text = "Email,SMS Opt-In,Opt-In\na@example.com,no,\n";
  expect(notesOf((await read(text, { ignoreUnmapped: true })).understood)).toEqual([
    '"SMS Opt-In" is about another channel than email; not read as consent',
    '"Opt-In" is empty in every row; not read as consent',
    'Ignored columns that do not match any field: "SMS Opt-In", "Opt-In"',
  ]);
});

test.each([
  ["Email,Consent\na@example.com,Form A\nb@example.com,Form B\n", "none of its cells is a yes or a no"],
  ["Email,Opt-in/out\na@example.com,yes\nb@example.com,no\n", "does not say which way round"],
  ["Email,Opt-in / Opt-out\na@example.com,yes\nb@example.com,no\n", "does not say which way round"],
])("what cannot be read is refused with place and next step: %s", async (text, why) => {
  for (const ignoreUnmapped of [true, false])
    await refuses(read(text, { ignoreUnmapped }), new RegExp(`:1: .*${why}`), /--consent-column .*--map/);
  const column = text.split("\n")[0]!.split(",")[1]!;
  expect(await mailed(text, { map: [[column, "ignore"]] })).toBe("a b");
  expect(await mailed(text, { consentColumns: [`${column}=opt-in`] })).toBe(column === "Consent" ? "" : "a");
});

test("a column that maps to a field is read all the same, and put aside only by ignore", async () => {
  const text = "Email,City\na@example.com,subscribed\nb@example.com,unsubscribed\n";
  expect(await mailed(text)).toBe("a");
  const table = "Email,Opt-Out\na@example.com,no\nb@example.com,yes\n";
  const { rows } = await read(table, { map: [["Opt-Out", "City"]] });
  expect(rows.map((row) => [row.fields.get("f3"), row.mark?.reason])).toEqual([
    ["no", undefined],
    ["yes", "Opt-Out: yes"],
  ]);
  const aside = await read(table, { map: [["Opt-Out", "ignore"]] });
  expect(aside.rows[1]?.mark).toBeUndefined();
  expect(notesOf(aside.understood).join()).toContain("--map Opt-Out=ignore");
});

test.each([
  ["Unsubscribed", "opt-in"],
  ["Einwilligung", "opt-out"],
])("--consent-column %s=%s contradicts the name", async (column, reading) => {
  const text = `Email,${column}\na@example.com,ja\n`;
  await refuses(read(text, { consentColumns: [`${column}=${reading}`] }), "its name says so");
});

test("two --consent-column that contradict each other are refused, and a name alone takes no reading back", async () => {
  const text = "Email,Letter\na@example.com,yes\nb@example.com,no\n";
  const both = read(text, { consentColumns: ["Letter=opt-out", "letter=opt-in"] });
  await refuses(
    both,
    'one --consent-column reads "Letter" as opt-out, another as opt-in',
    "Pass one of them",
  );
  expect(await mailed(text, { consentColumns: ["Letter=opt-out", "Letter"] })).toBe("b");
});

test("a flag turns no rule of a recognised export round", async () => {
  const text = "CONTACT ID;EMAIL;EMAIL_BLACKLISTED\n1;a@example.com;Yes\n";
  const told = read(text, { consentColumns: ["EMAIL_BLACKLISTED=opt-in"] });
  await refuses(told, "a Brevo export has its own rule for it");
});

test.each(["Unsubscribed", "Abgemeldet", "Désinscrit", "配信停止", "Opt-out reason"])(
  "--consent-column %s: a mark there means gone",
  async (column) => {
    const text = `Email,${column}\na@example.com,\nb@example.com,ja\n`;
    expect(await mailed(text, { consentColumns: [column] })).toBe("a");
  },
);
