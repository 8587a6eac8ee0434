/**
 * Exports of other services that list whom they no longer send to, recognised by their headers, and why each
 * person is on them. As the services document them: SendGrid (bounces and blocks, spam reports, invalid
 * emails, unsubscribes), Mailgun (bounces, complaints, unsubscribes), Amazon SES (account-level suppression
 * list), Postmark (suppressions), SparkPost (suppression list), Mailchimp (unsubscribed and cleaned contacts).
 */
import type { SuppressionReason } from "./suppression-reasons.ts";

export interface SuppressionExport {
  title: string;
  /** The column with the address, as the header has it. */
  key: string;
  /** Why a row's person is on it. @param cell by the name of its column */
  why(cell: (name: string) => string): SuppressionReason;
}

interface Form {
  title: string;
  /** All columns that it has, where nothing else tells it from a plain list; else some that only it has. */
  columns: string[];
  isExact?: boolean;
  key: string;
  reason: string | ((cell: (name: string) => string) => string | undefined);
}

const unsubscribed = "unsubscribed";
const bounced = "bounced";
const complained = "complained";
const invalid = "invalid address";
const manual = "suppressed by hand";

/** The first that fits is meant. */
const forms: Form[] = [
  { title: "SendGrid", columns: ["status", "reason", "email", "created"], key: "email", reason: bounced },
  { title: "SendGrid", columns: ["email", "ip", "created"], key: "email", reason: complained },
  { title: "SendGrid", columns: ["reason", "email", "created"], key: "email", reason: invalid },
  { title: "SendGrid", columns: ["email", "created"], isExact: true, key: "email", reason: unsubscribed },
  { title: "Mailgun", columns: ["address", "code", "error"], key: "address", reason: bounced },
  { title: "Mailgun", columns: ["address", "tags", "created_at"], key: "address", reason: unsubscribed },
  { title: "Mailgun", columns: ["address", "created_at"], isExact: true, key: "address", reason: complained },
  {
    title: "Postmark",
    columns: ["EmailAddress", "SuppressionReason"],
    key: "EmailAddress",
    reason: (cell) =>
      findWord(cell("SuppressionReason"), {
        hardbounce: bounced,
        spamcomplaint: complained,
        manualsuppression: unsubscribed,
      }),
  },
  {
    title: "Amazon SES",
    columns: ["EmailAddress", "Reason"],
    key: "EmailAddress",
    reason: (cell) => findWord(cell("Reason"), { bounce: bounced, complaint: complained }),
  },
  {
    title: "SparkPost",
    columns: ["recipient", "type", "source"],
    key: "recipient",
    reason: (cell) =>
      findWord(cell("source"), {
        spamcomplaint: complained,
        fbl: complained,
        listunsubscribe: unsubscribed,
        unsubscribelink: unsubscribed,
        bouncerule: bounced,
        manuallyadded: manual,
        compliance: "compliance",
      }),
  },
  {
    title: "Mailchimp",
    columns: ["Email Address", "UNSUB_TIME"],
    key: "Email Address",
    reason: unsubscribed,
  },
  { title: "Mailchimp", columns: ["Email Address", "CLEAN_TIME"], key: "Email Address", reason: bounced },
];

/** Undefined for any other table. */
export function recogniseSuppressionExport(header: readonly string[]): SuppressionExport | undefined {
  const names = header.map((name) => foldName(name));
  const isThere = (column: string) => names.includes(foldName(column));
  const form = forms.find(
    ({ columns, isExact }) => columns.every(isThere) && (!isExact || names.length === columns.length),
  );
  if (!form) return undefined;
  const { title, key, reason } = form;
  return {
    title,
    key: header[names.indexOf(foldName(key))]!,
    why(cell) {
      const readCell = (name: string) => cell(header[names.indexOf(foldName(name))] ?? name);
      return { reason: typeof reason === "string" ? reason : reason(readCell), source: title };
    },
  };
}

function findWord(cell: string, reasons: Record<string, string>): string | undefined {
  return new Map(Object.entries(reasons)).get(cell.toLowerCase().replace(/[^a-z]/g, ""));
}

function foldName(name: string): string {
  return name
    .replace(/^\ufeff/, "")
    .trim()
    .toLowerCase();
}
