/**
 * Reading: the exports of known systems, as a table of rules. Names are compared as `toLooseName` gives them.
 */
import { toLooseName } from "../api/names.ts";
import { usageError } from "../errors.ts";
import { splitNames } from "./cells.ts";
import type { ConsentRule } from "./consent/cells.ts";

export interface System {
  /** As `--from` takes it. */
  name: string;
  title: string;
  /** Columns that only this export has: all of `all`, and one of `any`. */
  all: string[];
  any?: string[];
  key: string;
  /** A key cell may hold several addresses: the first is the person's own. */
  keySplit?: string;
  /** `split`: what is between names in a cell; without it, a cell is a record of delimited text. */
  tags?: { column: string; split?: string; leavesOut?: RegExp };
  lists?: { column: string; split?: string };
  consent?: { column: string | RegExp; rule: ConsentRule }[];
  /** Its files hold people who agreed, unless a consent column says otherwise. */
  isOfSubscribers?: boolean;
  /** Columns that the system keeps for itself, parted by commas: ignored, and said so. */
  ignored?: string;
  ignoredPattern?: RegExp;
  /** An apostrophe that the system sets before numbers and formulas is not part of the value. */
  hasApostrophes?: boolean;
  /** Lines with one cell after a blank line, at the end, are no rows. */
  hasFooter?: boolean;
  /** What is left of a column's name when the system's own addition is taken off. */
  suffix?: RegExp;
}

const systems: System[] = [
  {
    name: "ecm",
    title: "an export of ecm",
    all: ["ecm:key"],
    key: "ecm:key",
    tags: { column: "ecm:tags" },
    lists: { column: "ecm:lists" },
    consent: [{ column: "ecm:status", rule: "unlessRefused" }],
    isOfSubscribers: true,
    ignored: "ecm:createdAt, ecm:updatedAt, ecm:_id, ecm:__v, ecm:safe-cells",
  },
  {
    name: "ecm",
    title: "an export of ecm",
    all: ["key"],
    any: ["lists", "tags", "status", "createdAt", "ecm:safe-cells"],
    key: "key",
    tags: { column: "tags" },
    lists: { column: "lists" },
    consent: [{ column: "status", rule: "unlessRefused" }],
    isOfSubscribers: true,
    ignored: "createdAt, updatedAt, _id, __v, ecm:safe-cells",
  },
  {
    name: "mailchimp",
    title: "a Mailchimp export",
    all: ["MEMBER_RATING", "LEID", "EUID"],
    key: "Email Address",
    tags: { column: "TAGS" },
    consent: [
      { column: "UNSUB_TIME", rule: "always" },
      { column: "CLEAN_TIME", rule: "always" },
    ],
    isOfSubscribers: true,
    ignored: `MEMBER_RATING, OPTIN_TIME, OPTIN_IP, CONFIRM_TIME, CONFIRM_IP, LATITUDE, LONGITUDE,
      GMTOFF, DSTOFF, TIMEZONE, CC, REGION, LAST_CHANGED, LEID, EUID, NOTES`,
    ignoredPattern: /^(?:unsub|clean)(?:campaign|reason)/,
  },
  {
    name: "google",
    title: "an export of Google Contacts",
    all: ["E-mail 1 - Value", "Group Membership"],
    key: "E-mail 1 - Value",
    keySplit: ":::",
    tags: { column: "Group Membership", split: ":::", leavesOut: /^\* / },
    ignored: "Name, Short Name, Photo, Directory Server, Sensitivity, Priority, Mileage",
    ignoredPattern:
      /yomi|(?:email|phone|organization|address|website|event|customfield|im|relation)\d+(?:type|label)$/,
  },
  {
    name: "google",
    title: "an export of Google Contacts",
    all: ["E-mail 1 - Value", "Labels", "File As"],
    key: "E-mail 1 - Value",
    keySplit: ":::",
    tags: { column: "Labels", split: ":::", leavesOut: /^\* / },
    ignored: "File As, Photo",
    ignoredPattern: /^phonetic|(?:email|phone|address|website|event|customfield|relation)\d+label$/,
  },
  {
    name: "outlook",
    title: "an Outlook export",
    all: ["E-mail Address", "E-mail 2 Address", "E-mail 3 Address"],
    key: "E-mail Address",
    tags: { column: "Categories", split: ";" },
    ignored: "Priority, Private, Sensitivity, Internet Free Busy, Directory Server, Mileage",
    ignoredPattern: /yomi|^email(?:2|3)?(?:type|displayname)$/,
  },
  {
    name: "hubspot",
    title: "a HubSpot export",
    all: ["Record ID", "Email"],
    key: "Email",
    consent: [
      { column: "Unsubscribed from all email", rule: "optedOut" },
      // One for each type of subscription.
      { column: /^opted out of email:/i, rule: "optedOut" },
      { column: /^email hard bounce reason$/i, rule: "evidence" },
    ],
    ignored: "Record ID, Contact owner, Create Date, Last Activity Date, Last Modified Date",
    ignoredPattern: /^(?:marketingcontactstatus|associated\w*ids?)$/,
  },
  {
    name: "shopify",
    title: "a Shopify customer export",
    all: ["Accepts Email Marketing"],
    any: ["Customer ID", "Total Spent", "Total Orders"],
    key: "Email",
    tags: { column: "Tags", split: "," },
    consent: [{ column: "Accepts Email Marketing", rule: "subscribed" }],
    ignored: "Customer ID, Accepts SMS Marketing, Tax Exempt, Total Spent, Total Orders",
    hasApostrophes: true,
  },
  {
    name: "brevo",
    title: "a Brevo export",
    all: ["CONTACT ID", "EMAIL"],
    any: ["EMAIL_BLACKLISTED", "ADDED_TIME", "MODIFIED_TIME"],
    key: "EMAIL",
    consent: [
      { column: "EMAIL_BLACKLISTED", rule: "optedOut" },
      // Contacts that did not come in by a form have an empty cell.
      { column: "OPT_IN", rule: "unlessRefused" },
      { column: "DOUBLE_OPT-IN", rule: "unlessRefused" },
    ],
    ignored: `CONTACT_ID, EXT_ID, CONTACT_TIMEZONE, SMS_BLACKLISTED, WHATSAPP_BLACKLISTED, ADDED_TIME,
      MODIFIED_TIME`,
  },
  {
    name: "constant-contact",
    title: "a Constant Contact export",
    all: ["Email address", "Email status"],
    any: ["Email permission status", "Email Lists"],
    key: "Email address",
    tags: { column: "Tags", split: "," },
    lists: { column: "Email Lists", split: "," },
    consent: [
      { column: "Email status", rule: "subscribed" },
      { column: "Email permission status", rule: "unlessRefused" },
    ],
    ignored: "Created At, Updated At",
    ignoredPattern: /^emailupdate/,
  },
  {
    name: "klaviyo",
    title: "a Klaviyo export",
    all: ["Klaviyo ID", "Email"],
    key: "Email",
    consent: [
      { column: "Email Marketing Consent", rule: "subscribed" },
      { column: "Email Suppressions", rule: "evidence" },
    ],
    ignored: `Klaviyo ID, Profile Created On, First Active, Last Active, Last Open, Last Click,
      Total Customer Lifetime Value`,
    ignoredPattern:
      /^(?:email|sms|push|whatsapp).*timestamp$|^(?:sms|push|whatsapp)\w*(?:consent|suppressions)/,
  },
  {
    name: "activecampaign",
    title: "an ActiveCampaign export",
    all: ["Email", "Date Created", "IP", "Status"],
    key: "Email",
    tags: { column: "Tags", split: "," },
    consent: [{ column: "Status", rule: "subscribed" }],
    ignored: "Date Created, IP, ID, Score",
  },
  {
    name: "linkedin",
    title: "a LinkedIn connections export",
    all: ["Connected On", "URL", "Position"],
    key: "Email Address",
    ignored: "URL, Connected On",
  },
  {
    name: "stripe",
    title: "a Stripe customer export",
    all: ["id", "Created (UTC)", "Delinquent"],
    key: "Email",
    ignored: `id, Created (UTC), Delinquent, Plan, Status, Total Spend, Payment Count, Refunded Volume,
      Dispute Losses, Card ID, Average Order, Default Source, Currency`,
    suffix: / \(metadata\)$/i,
  },
  {
    name: "woocommerce",
    title: "a WooCommerce customer export",
    all: ["AOV", "Last Active", "Sign Up"],
    key: "Email",
    ignored: "Username, Last Active, Sign Up, Orders, Total Spend, AOV, Role",
  },
  {
    name: "eventbrite",
    title: "an Eventbrite attendee export",
    all: ["Order #", "Attendee #"],
    key: "Email",
    ignored: `Order #, Order Date, Quantity, Price Tier, Attendee #, Group, Order Type, Currency,
      Total Paid, Fees Paid, Eventbrite Fees, Eventbrite Payment Processing, Attendee Status`,
  },
  {
    name: "salesforce",
    title: "a Salesforce report",
    all: ["Email"],
    any: ["Email Opt Out", "Account Name"],
    key: "Email",
    consent: [{ column: "Email Opt Out", rule: "optedOut" }],
    ignored: "Contact ID, Account ID, Lead ID, Contact Owner, Last Activity",
    hasFooter: true,
  },
];

/** The system whose export has these columns. */
export function recogniseSystem(names: readonly string[], among = systems): System | undefined {
  const there = new Set(names.map(toLooseName));
  const isThere = (name: string) => there.has(toLooseName(name));
  return among.find(({ all, any }) => all.every(isThere) && (any === undefined || any.some(isThere)));
}

/**
 * The system that `--from` names, in the variant that fits the columns best; else the one that is recognised
 * by the header.
 * @throws UsageError for a name that is not in the table
 */
export function chooseSystem(
  names: readonly string[],
  from: string | undefined,
  hasHeader: boolean,
): System | undefined {
  if (from === undefined) return hasHeader ? recogniseSystem(names) : undefined;
  const named = systems.filter(({ name }) => name === from.trim().toLowerCase());
  const chosen = recogniseSystem(names, named) ?? named.at(-1);
  if (chosen) return chosen;
  const all = new Set(systems.map(({ name }) => name));
  throw usageError(`--from ${JSON.stringify(from)} is not a known system`, `Known: ${[...all].join(", ")}`);
}

/** Whether a system keeps a column of this name for itself. */
export function isIgnoredColumn(system: System, name: string): boolean {
  const loose = toLooseName(name);
  return (
    splitNames(system.ignored ?? "").some((each) => toLooseName(each) === loose) ||
    (system.ignoredPattern?.test(loose) ?? false)
  );
}

/** How a column of this name is read by the system's own rule. */
export function findSystemRule({ consent = [] }: System, name: string): ConsentRule | undefined {
  const matchesColumn = (column: string | RegExp) =>
    typeof column === "string" ? isColumn(name, column) : column.test(name.trim());
  return consent.find(({ column }) => matchesColumn(column))?.rule;
}

const ourColumns = ["lists", "tags", "status", "createdAt"];

/** An export of ours with all of its columns: with fewer, the names are too common to be ours for sure. */
export function isFullExport(names: readonly string[]): boolean {
  const isThere = (column: string) => names.includes(column) || names.includes(`ecm:${column}`);
  return isThere("key") && ourColumns.every(isThere);
}

export function isColumn(name: string, column: string | undefined): boolean {
  return column !== undefined && toLooseName(name) === toLooseName(column);
}
