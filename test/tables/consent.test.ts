/** What files of the world say of consent: by names and words that a native reader can check. */
import { describe, expect, test } from "vitest";
import { type ConsentName, findConsentName } from "../../src/tables/consent/names.ts";
import type { ReadOptions } from "../../src/tables/rows.ts";
import { catchFailure, notesOf, read } from "./reading.ts";

/** Who may be mailed: the local parts of their addresses. */
async function mailed(text: string, options: Partial<ReadOptions> = {}): Promise<string> {
  const { rows } = await read(text, { ignoreUnmapped: true, ...options });
  return rows
    .filter((row) => row.mark?.reason === undefined)
    .map((row) => row.key.sent.split("@")[0])
    .join(" ");
}

/** A file of one further column: `in` cells mean subscribed, `out` cells do not. */
async function split(column: string, subscribed: string[], out: string[]): Promise<void> {
  const line = (prefix: string) => (cell: string, index: number) =>
    `${prefix}${index}@example.com,"${cell.replaceAll('"', '""')}"\n`;
  const text = `Email,"${column}"\n${subscribed.map(line("in")).join("")}${out.map(line("out")).join("")}`;
  expect(await mailed(text), column).toBe(subscribed.map((_, index) => `in${index}`).join(" "));
}

describe("names of columns, by language", () => {
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
  const table = (kind: ConsentName, names: Record<string, string>) =>
    Object.entries(names).flatMap(([language, line]) =>
      line.split(", ").map((name): [string, string, ConsentName] => [language, name, kind]),
    );
  test.each([...table("optIn", optIn), ...table("optOut", optOut)])("%s: %s", (_language, name, kind) => {
    expect(findConsentName(name)).toBe(kind);
  });

  test.each([
    "SMS Opt-In",
    "SMS_BLACKLISTED",
    "Accepts SMS Marketing",
    "Phone consent",
    "Do Not Call",
    "DoNotPhone",
    "WhatsApp opt in",
    "Push subscribed",
    "HasOptedOutOfFax",
    "Telefon-Einwilligung",
  ])("%s is about another channel", (name) => {
    expect(findConsentName(name)).toBe("otherChannel");
  });

  test.each([
    "Email and SMS consent",
    "Opt-in E-Mail/Telefon",
    "Newsletter SMS unsubscribed",
    "Unsubscribed by phone",
  ])("%s may be about e-mail too", (name) => {
    expect(findConsentName(name)).toBe("unclear");
  });

  test.each([
    "City",
    "Stadt",
    "Last Name",
    "Surname",
    "Notes",
    "Company",
    "Options",
    "Postal code",
    "Street",
    "Birthday",
    "Phone",
    "Lead Source",
    "Created At",
    "Score",
    "Contact owner",
    "Balance",
    "Gender",
  ])("%s says nothing of consent", (name) => {
    expect(["other", undefined]).toContain(findConsentName(name));
  });
});

describe("cells, by language", () => {
  test.each([
    [
      "Status",
      "subscribed, Active, opted-in, SUBSCRIBED, Opt In",
      "unsubscribed, Opted Out, cleaned, bounced, complained, Hard Bounced, do not email, NEVER_SUBSCRIBED, inactive, pending, unconfirmed, spam complaint, unsubscribed on 3 May 2024, User unsubscribed, Contact has opted out",
    ],
    ["Status", "angemeldet, aktiv, abonniert", "abgemeldet, ausgetragen, nicht abonniert, inaktiv"],
    ["Statut", "abonné, inscrite, actif", "désabonné, désinscrite, Désinscrit, desabonne"],
    ["Estado", "suscrito, activo, alta", "baja, dado de baja, desuscrito, inactivo"],
    ["Stato", "iscritto, attivo", "disiscritto, non iscritto, inattivo"],
    ["Status", "ingeschreven, actief", "uitgeschreven, afgemeld"],
    ["Situação", "inscrito, ativo", "descadastrado, cancelou a inscrição, inativo"],
    ["Status", "prenumererar, aktiv", "avregistrerad, avprenumererad"],
    ["Status", "tilmeldt, aktiv", "afmeldt, avmeldt"],
    ["Tila", "tilaaja, aktiivinen", "tilaus peruttu, ei tilaaja"],
    ["Status", "zapisany, aktywny", "wypisany, rezygnacja"],
    ["Stav", "přihlášen, aktivní", "odhlášen, odhlášený"],
    ["Статус", "подписан, активен", "отписан, отписалась, чёрный список"],
    ["ステータス", "購読中, 配信中, 有効, 登録済み", "配信停止, 退会, 購読解除, 無効"],
    ["状态", "已订阅, 订阅", "退订, 已退订, 取消订阅"],
    ["상태", "구독, 구독중", "수신거부, 구독취소"],
  ])("%s: %s / %s", async (column, subscribed, out) => {
    await split(column, subscribed.split(", "), out.split(", "));
  });

  test.each([
    [
      "Opt-In",
      "yes, Y, true, TRUE, 1, 1.0, x, X, ✓, on, ja, J, Oui, sí, Sì, si, sim, да, はい, 是, 예, tak, ano, evet, kyllä, ○, 同意する, Subscribed, opted-in",
      "no, N, false, 0, 0.0, nein, Non, não, nee, nej, ei, nie, нет, いいえ, 否, ×, 아니요, hayır, perhaps, unsubscribed, opted out, bounced",
    ],
    [
      "Unsubscribed",
      "no, false, 0, nein, non, いいえ, 否, ×, , -, N/A, NULL",
      "yes, true, 1, ja, oui, sì, はい, 是, x, 2024-03-01, 3, Too many mails",
    ],
    [
      "Unsubscribed at",
      ", 0000-00-00, 0000-00-00 00:00:00, NULL, 0001-01-01, 1900-01-00, 1970-01-01 00:00:00, 0000000000",
      "2024-03-01 10:00:00, 01.03.2024, 3/1/24 9:30, 2024-03-01T10:00:00Z, 1709287200, 1 March 2024",
    ],
    ["Opt-In Date", "2024-03-01, 01.03.2024 10:15, 2024-03-01T10:00:00Z", ", 0000-00-00, no"],
    // What programs write where there is no date: day 0 of spreadsheets, the first day of a calendar.
    [
      "Opt-In Date",
      "2024-03-01, 01.03.2024, 2001-01-01, 01.01.01",
      "0001-01-01T00:00:00Z, 1/1/0001 12:00:00 AM, 1900-01-00, 00.01.1900, 1/0/1900, 1899-12-30, 12/31/1899, 01.01.1900, 1970-01-01 00:00:00, 1969-12-31 19:00:00, 0000000000",
    ],
    // Marks around a word say nothing; before it, an exclamation mark may mean no.
    [
      "Status",
      "subscribed!, Active!!, ¡suscrito!, [subscribed]",
      "Unsubscribed!, unsubscribed !, ABGEMELDET!!, Désinscrit !, 退订！, Baja!, !subscribed, ! subscribed, subscribed?!",
    ],
    ["Unsubscribed", "no!, No., N/A!, -", "yes!, Ja!, x!, 1!, 2024-01-01!, !no"],
    ["メール配信希望", "希望する, はい, 可, ○", "希望しない, いいえ, 不可, ×, 否"],
    ["Do not allow Bulk Emails", "Allow", "Do Not Allow"],
    ["配信停止", "×, いいえ", "○, はい, 配信停止"],
    ["Hard bounces", "0, ", "1, 2"],
    ["Opt-In", "yes, 1", "-1, −1, +1, yes?, yes*, yes/no, 2"],
    ["Opt-Out", "no, 0", "-1, no?, ?, maybe, 2"],
    ["Status", "subscribed", "unsubscribed, subscribed?, subscribed*, 2024-01-01"],
    [
      "Status",
      "subscribed",
      "Un subscribed, Opted\u2011out, Unsubscribed*, UNSUBSCRİBED, uns\u00adubscribed, un\u200bsubscribed, No longer subscribed, revoked, withdrawn, STOP, ABONELİKTEN ÇIKTI, Ｕｎｓｕｂｓｃｒｉｂｅｄ",
    ],
  ])("%s: %s / %s", async (column, subscribed, out) => {
    await split(column, subscribed.split(", "), out.split(", "));
  });

  test.each(["Newsletter", "Subscription", "Marketing", "E-Mail-Marketing"])(
    "%s: a name that does not say what a yes means is asked about",
    async (column) => {
      const text = `Email,${column}\na@example.com,ja\nb@example.com,nein\nc@example.com,\n`;
      const failure = await catchFailure(read(text, { ignoreUnmapped: true }));
      expect(failure.exitCode).toBe(2);
      expect(failure.message).toContain("read as opt-in it leaves out 2 of 3 rows, as opt-out 1");
      expect(failure.hint).toContain(`--consent-column ${column}=opt-in`);
      expect(await mailed(text, { consentColumns: [`${column}=opt-in`] })).toBe("a");
      expect(await mailed(text, { consentColumns: [`${column}=opt-out`] })).toBe("b c");
      expect((await catchFailure(read(text, { consentColumns: [`${column}=none`] }))).exitCode).toBe(2);
      expect(await mailed(text, { map: new Map([[column, "consent=opt-in"]]) })).toBe("a");
      expect(await mailed(text, { map: new Map([[column, "ignore"]]) })).toBe("a b c");
      expect((await catchFailure(read(text, { consentColumns: [column] }))).exitCode).toBe(2);
    },
  );

  test("several columns must all allow", async () => {
    const text =
      "Email,Opt-In,Bounced\na@example.com,yes,no\nb@example.com,yes,yes\nc@example.com,no,no\nd@example.com,,\n";
    expect(await mailed(text)).toBe("a");
  });

  test("a column that is empty in every row says nothing; one that is not asks for a yes", async () => {
    expect(await mailed("Email,Opt-In\na@example.com,\nb@example.com,\n")).toBe("a b");
    expect(await mailed("Email,Opt-In\na@example.com,yes\nb@example.com,\n")).toBe("a");
    expect(await mailed("Email,Opt-In\na@example.com,\n", { consentColumns: ["Opt-In"] })).toBe("");
  });
});

test("a column with nothing but dates that mean never is not empty: nobody in it has agreed", async () => {
  for (const never of ["0000-00-00", "1970-01-01 00:00:00", "0001-01-01"]) {
    const opted = `Email,Opt-In Date\na@example.com,${never}\nb@example.com,${never}\n`;
    expect(await mailed(opted)).toBe("");
    const left = `Email,Unsubscribed At\na@example.com,${never}\nb@example.com,${never}\n`;
    expect(await mailed(left)).toBe("a b");
  }
});

describe("exports of the world that must create nobody who left", () => {
  test.each([
    [
      "Salesforce contacts",
      "Email,HasOptedOutOfEmail,DoNotCall\na@example.com,FALSE,TRUE\nz@example.com,TRUE,FALSE\n",
    ],
    [
      "Dynamics 365",
      "E-mail,Do not allow Emails,Do not allow Phone Calls\na@example.com,Allow,Do Not Allow\nz@example.com,Do Not Allow,Allow\n",
    ],
    [
      "Zoho CRM",
      "Email,Email Opt Out,Lead Status\na@example.com,false,Contacted\nz@example.com,true,Contacted\n",
    ],
    [
      "HubSpot, one subscription",
      "Record ID,Email,Unsubscribed from all email,Opted out of email: Marketing Information\n1,a@example.com,false,false\n2,z@example.com,false,true\n",
    ],
    [
      "HubSpot, hard bounce",
      "Record ID,Email,Unsubscribed from all email,Email hard bounce reason\n1,a@example.com,,\n2,z@example.com,,UNKNOWN_USER\n",
    ],
    [
      "Shopify with an own column",
      "Customer ID,Email,Accepts Email Marketing,Total Spent,Unsubscribed\n1,a@example.com,yes,0,no\n2,z@example.com,yes,0,yes\n",
    ],
    [
      "Brevo, a no in OPT_IN",
      "CONTACT ID;EMAIL;EMAIL_BLACKLISTED;OPT_IN;ADDED_TIME\n1;a@example.com;No;;x\n2;z@example.com;No;No;x\n",
    ],
    [
      "Constant Contact",
      "Email address,Email status,Email permission status\na@example.com,Active,Express\nz@example.com,Active,Unsubscribed\n",
    ],
    [
      "listmonk",
      "uuid,email,name,attributes,status\n1,a@example.com,A,{},enabled\n2,z@example.com,Z,{},blocklisted\n",
    ],
    ["Sendy", "Name,Email,Status\nA,a@example.com,Subscribed\nZ,z@example.com,Marked as spam\n"],
    [
      "MailerLite",
      "Email,Status,Unsubscribed\na@example.com,Active,\nz@example.com,Active,2024-01-02 10:00:00\n",
    ],
    [
      "Campaign Monitor",
      "Email Address,State,Consent to track\na@example.com,Active,Yes\nz@example.com,Deleted,\ny@example.com,Unsubscribed,Yes\n",
    ],
    ["GetResponse", "email,consent Marketing\na@example.com,accepted\nz@example.com,revoked\n"],
    [
      "SendGrid global",
      "email,created,unsubscribed\na@example.com,1609459200,\nz@example.com,1609459200,1609459999\n",
    ],
    ["Mautic", "email,dnc_email,doNotContact\na@example.com,0,0\nz@example.com,0,1\n"],
    ["CleverReach", "E-Mail;Aktiv;Abgemeldet am\na@example.com;1;\nz@example.com;0;12.03.2024\n"],
    [
      "rapidmail",
      "E-Mail-Adresse;Status;Abgemeldet\na@example.com;aktiv;\nz@example.com;abgemeldet;01.02.2024\n",
    ],
    ["Sarbacane (fr)", "Email;Désinscrit;NPAI\na@example.com;non;non\nz@example.com;oui;non\n"],
    ["Acumbamail (es)", "Correo;Estado\na@example.com;Activo\nz@example.com;Baja\n"],
    ["Doppler (es)", "Email;Desuscripto;Fecha de baja\na@example.com;;\nz@example.com;;03/02/2024\n"],
    ["MailUp (it)", "Email;Stato\na@example.com;Iscritto\nz@example.com;Disiscritto\n"],
    ["RD Station (pt)", "Email;Descadastrado em\na@example.com;\nz@example.com;2024-02-03\n"],
    ["Laposta (nl)", "E-mailadres;Status\na@example.com;Actief\nz@example.com;Afgemeld\n"],
    ["Get a Newsletter (sv)", "E-post;Avregistrerad\na@example.com;nej\nz@example.com;ja\n"],
    ["FreshMail (pl)", "E-mail;Stan\na@example.com;Aktywny\nz@example.com;Wypisany\n"],
    ["UniSender (ru)", "Email;Статус\na@example.com;активен\nz@example.com;отписан\n"],
    ["配配メール (ja)", "メールアドレス,配信状態\na@example.com,配信中\nz@example.com,配信停止\n"],
    [
      "ec-cube (ja)",
      "メールアドレス,メールマガジン送付について\na@example.com,受け取る\nz@example.com,受け取らない\n",
    ],
    ["有赞 (zh)", "邮箱,订阅状态\na@example.com,已订阅\nz@example.com,已退订\n"],
    ["Stibee (ko)", "이메일,상태\na@example.com,구독\nz@example.com,수신거부\n"],
    ["Substack", "Email,Type,Email disabled\na@example.com,free,false\nz@example.com,free,true\n"],
    ["Ghost", "id,email,subscribed_to_emails,deleted_at\n1,a@example.com,true,\n2,z@example.com,false,\n"],
    [
      "Intercom",
      "Email,Unsubscribed from Emails,Hard bounced,Marked email as spam\na@example.com,false,false,false\nz@example.com,false,false,true\n",
    ],
    [
      "Marketo",
      "Email Address,Unsubscribed,Email Invalid,Marketing Suspended,Black Listed\na@example.com,0,0,0,0\nz@example.com,0,0,1,0\n",
    ],
    [
      "Pipedrive",
      "Email,Marketing status\na@example.com,Subscribed\nz@example.com,No consent\ny@example.com,Unsubscribed\n",
    ],
    ["Omnisend", "email,email_status\na@example.com,subscribed\nz@example.com,nonSubscribed\n"],
    ["Shopware 6", "email,status\na@example.com,optIn\nz@example.com,optOut\n"],
    ["OXID", "OXUSERNAME,Email,OXDBOPTIN\nx,a@example.com,1\nx,z@example.com,0\n"],
    [
      "MailPoet",
      "Email,Global status\na@example.com,Subscribed\nz@example.com,Bounced\ny@example.com,Unconfirmed\n",
    ],
    ["Squarespace", "Email,Accepts Marketing\na@example.com,true\nz@example.com,false\n"],
    ["BigCommerce", "Email,Receive Marketing Emails?\na@example.com,Y\nz@example.com,N\n"],
    ["Raiser's Edge", "Email,Requests no e-mail\na@example.com,No\nz@example.com,Yes\n"],
    ["an address check", "Email,Email Status\na@example.com,valid\nz@example.com,bounced\n"],
    ["words within a text", "Email,Status\na@example.com,active\nz@example.com,User unsubscribed via link\n"],
    ["no name at all", "Email,X7\na@example.com,active\nz@example.com,unsubscribed\n"],
    [
      "a mark far down",
      `Email,Status\n${Array.from({ length: 300 }, (_, index) => `a${index}@example.com,subscribed\n`).join("")}z@example.com,unsubscribed\n`,
    ],
    ["a spreadsheet's formula", 'Email,Opt-Out\na@example.com,="no"\nz@example.com,="yes"\n'],
    ["a spreadsheet's apostrophe", "Email,Opt-In\na@example.com,'yes\nz@example.com,'no\n"],
    ["a mark that maps to a field", "Email,City,Opt-Out\na@example.com,Rome,0\nz@example.com,Rome,1\n"],
  ])("%s", async (_name, text) => {
    const rows = await mailed(text);
    expect(rows.split(" ")).not.toContain("z");
    expect(rows.split(" ")).not.toContain("y");
    expect(rows).toContain("a");
  });
});

describe("exports of which it has to be asked what a yes means", () => {
  test.each([
    ["AWeber", "Email,Stop Time,Stop Status\na@example.com,,\nz@example.com,2024-01-02,unsubscribed\n"],
    ["JTL-Shop", "Email;Newsletter\na@example.com;Y\nz@example.com;N\n"],
    ["Shopware 5", "email,newsletter\na@example.com,1\nz@example.com,0\n"],
    [
      "PrestaShop (fr)",
      "Adresse e-mail;Newsletter;Offres partenaires\na@example.com;Oui;Non\nz@example.com;Non;Non\n",
    ],
    ["Mailjet", "email,isexcludedfromcampaigns,Exclu\na@example.com,false,non\nz@example.com,true,oui\n"],
    ["Access", "Email,Newsletter\na@example.com,-1\nz@example.com,0\n"],
    ["typed by hand", "Email,Bemerkung,raus?,Newsletter bitte\na@example.com,,,ja\nz@example.com,,x,nein\n"],
  ])("%s", async (_name, text) => {
    const failure = await catchFailure(read(text, { ignoreUnmapped: true }));
    expect(failure.exitCode).toBe(2);
    expect(failure.hint).toMatch(/--consent-column .*=opt-in.*=opt-out.*--map .*=ignore/);
  });
});

describe("files in which nobody left", () => {
  test.each([
    ["stops of other things", "Email,Stop Status\na@example.com,\nb@example.com,Bus stop 3\n"],
    ["cities and surnames", "Email,City,Last Name\na@example.com,Baja,Spam\nb@example.com,Oslo,Left\n"],
    ["one row of them", "Email,City,Last Name\na@example.com,Baja,Spam\n"],
    ["states", "Email,State\na@example.com,TX\nb@example.com,Baja California\n"],
    [
      "customers' status",
      "Email,Status,Lead Status\na@example.com,lead,NEW\nb@example.com,customer,inactive\n",
    ],
    ["inactive alone", "Email,Status\na@example.com,active\nb@example.com,inactive\n"],
    ["status texts", "Email,Status\na@example.com,has not unsubscribed\nb@example.com,never bounced\n"],
    ["notes", "Email,Notes\na@example.com,unsubscribed from the phone plan\nb@example.com,unsubscribed\n"],
    [
      "subscriptions to other things",
      "Email,Subscription,Plan\na@example.com,Gold,yes\nb@example.com,Silver,no\n",
    ],
    ["other channels", "Email,SMS Opt-In,Do Not Call\na@example.com,no,yes\nb@example.com,yes,no\n"],
    ["newsletters by name", "Email,Newsletter\na@example.com,Weekly\nb@example.com,Monthly\n"],
    [
      "links",
      "Email,Unsubscribe URL,Opt-in IP\na@example.com,https://example.com/u/1,192.0.2.1\nb@example.com,https://example.com/u/2,\n",
    ],
    [
      "orders",
      "Email,Order Status,Payment Status\na@example.com,cancelled,paid\nb@example.com,shipped,refunded\n",
    ],
    ["complaints of customers", "Email,Complaints\na@example.com,late delivery\nb@example.com,\n"],
  ])("%s", async (_name, text) => {
    const count = text.trim().split("\n").length - 1;
    expect((await mailed(text)).split(" ")).toHaveLength(count);
  });
});

describe("never passed over without a word", () => {
  test("another channel and an empty column are said", async () => {
    const { understood } = await read("Email,SMS Opt-In,Opt-In\na@example.com,no,\n", {
      ignoreUnmapped: true,
    });
    expect(notesOf(understood)).toContain(
      '"SMS Opt-In" is about another channel than email; not read as consent',
    );
    expect(notesOf(understood)).toContain('"Opt-In" is empty in every row; not read as consent');
  });

  test.each([
    ["Email,Consent\na@example.com,Form A\nb@example.com,Form B\n", "none of its cells is a yes or a no"],
    ["Email,Opt-in/out\na@example.com,yes\nb@example.com,no\n", "does not say which way round"],
    ["Email,Opt-in / Opt-out\na@example.com,yes\nb@example.com,no\n", "does not say which way round"],
  ])("what cannot be read is refused with place and next step: %s", async (text, why) => {
    for (const ignoreUnmapped of [true, false]) {
      const failure = await catchFailure(read(text, { ignoreUnmapped }));
      expect(failure.exitCode).toBe(2);
      expect(failure.message).toContain(":1: ");
      expect(failure.message).toContain(why);
      expect(failure.hint).toMatch(/--consent-column .*--map/);
    }
    const column = text.split("\n")[0]!.split(",")[1]!;
    expect(await mailed(text, { map: new Map([[column, "ignore"]]) })).toBe("a b");
    expect(await mailed(text, { consentColumns: [`${column}=opt-in`] })).toBe(
      column === "Consent" ? "" : "a",
    );
  });

  test("a column that maps to a field is read all the same, and put aside only by ignore", async () => {
    const text = "Email,City\na@example.com,subscribed\nb@example.com,unsubscribed\n";
    expect(await mailed(text)).toBe("a");
    const table = "Email,Opt-Out\na@example.com,no\nb@example.com,yes\n";
    const { rows } = await read(table, { map: new Map([["Opt-Out", "City"]]) });
    expect(rows.map((row) => [row.fields.get("f3"), row.mark?.reason])).toEqual([
      ["no", undefined],
      ["yes", "Opt-Out: yes"],
    ]);
    const aside = await read(table, { map: new Map([["Opt-Out", "ignore"]]) });
    expect(aside.rows[1]?.mark).toBeUndefined();
    expect(notesOf(aside.understood).join()).toContain("--map Opt-Out=ignore");
  });

  test.each([
    ["Unsubscribed", "opt-in"],
    ["Einwilligung", "opt-out"],
  ])("--consent-column %s=%s contradicts the name", async (column, reading) => {
    const text = `Email,${column}\na@example.com,ja\n`;
    const failure = await catchFailure(read(text, { consentColumns: [`${column}=${reading}`] }));
    expect(failure.exitCode).toBe(2);
    expect(failure.message).toContain("its name says so");
  });

  test("a flag turns no rule of a recognised export round", async () => {
    const text = "CONTACT ID;EMAIL;EMAIL_BLACKLISTED\n1;a@example.com;Yes\n";
    const failure = await catchFailure(read(text, { consentColumns: ["EMAIL_BLACKLISTED=opt-in"] }));
    expect(failure.message).toContain("a Brevo export has its own rule for it");
  });

  test.each(["Unsubscribed", "Abgemeldet", "Désinscrit", "配信停止", "Opt-out reason"])(
    "--consent-column %s: a mark there means gone",
    async (column) => {
      const text = `Email,${column}\na@example.com,\nb@example.com,ja\n`;
      expect(await mailed(text, { consentColumns: [column] })).toBe("a");
    },
  );
});
