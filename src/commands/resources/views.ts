/** The columns of what the service tells without a promise: whatever a member is, it can be shown. */

import { listMembers, readMember, textMember } from "../../api/records.ts";
import type { DnsRecord, Figure } from "../../api/reports.ts";
import { isObject } from "../../json.ts";
import { escapeControls } from "../../terminal/escape.ts";
import type { Column, View } from "../../terminal/present.ts";

type Cell = string | number | boolean | undefined;

/** A plain value as it is; anything else as JSON. */
function toCell(value: unknown): Cell {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return JSON.stringify(value);
}

type MoreOfColumn = Omit<Partial<Column<unknown>>, "name" | "value">;

/** @param path where it stands in the record; default: the member of the column's name */
function memberColumn(name: string, more: MoreOfColumn = {}, path: readonly string[] = [name]) {
  return { name, value: (record: unknown) => toCell(readMember(record, ...path)), ...more };
}

/** A part of a domain is told with its status and more, or as the status alone. */
function statusColumn(part: string, title = part): Column<unknown> {
  const readStatus = (told: unknown) => (isObject(told) ? told.status : told);
  return { name: part, title, value: (record) => toCell(readStatus(readMember(record, part))) };
}

/** All columns of the view, and one for each member besides. */
export function everyColumn({ columns }: View<unknown>, record: unknown): Column<unknown>[] {
  const known = columns.map(({ name }) => name);
  const further = listMembers(record).filter(([name]) => !known.includes(name));
  return [
    ...columns.map((column) => ({ ...column, optional: false })),
    ...further.map(([name]) => memberColumn(name)),
  ];
}

/** A domain without its DNS records, which are shown otherwise; a part that tells no more is its status. */
export function withoutDnsRecords(domain: unknown): unknown {
  const toPart = (told: unknown) => {
    if (!isObject(told) || !("status" in told || "records" in told)) return told;
    const { status, records, ...more } = told;
    return Object.keys(more).length > 0 ? JSON.stringify({ status, ...more }) : status;
  };
  return Object.fromEntries(listMembers(domain).map(([part, told]) => [part, toPart(told)]));
}

const id = memberColumn("_id", { title: "id", isWhole: true, isAside: true });
const updated = memberColumn("updatedAt", { title: "updated", isTime: true });
const created = memberColumn("createdAt", { title: "created", isTime: true, optional: true });

export function recordId(record: unknown): string {
  return textMember(record, "_id") ?? "";
}

export const campaignView: View<unknown> = {
  columns: [
    memberColumn("name"),
    memberColumn("status"),
    memberColumn("subject"),
    memberColumn("sentCount", { title: "sent" }),
    memberColumn("failedCount", { title: "failed" }),
    { name: "recipients", value: countRecipients },
    updated,
    id,
    memberColumn("from", { optional: true }),
    memberColumn("previewText", { title: "preview text", optional: true }),
    memberColumn("previewImageUrl", { title: "preview image", optional: true }),
    created,
  ],
  id: recordId,
  empty: "No campaigns",
};

/** The number of recipients has no published name. */
function countRecipients(campaign: unknown): Cell {
  const isCount = ([name, value]: [string, unknown]) => /recipient/i.test(name) && typeof value === "number";
  return toCell(listMembers(campaign).find(isCount)?.[1]);
}

export const templateView: View<unknown> = {
  columns: [memberColumn("name"), memberColumn("subject"), updated, id, created],
  id: recordId,
  empty: "No templates",
};

export const domainView: View<unknown> = {
  columns: [
    memberColumn("domain", { isWhole: true }),
    memberColumn("isReadyForSending", { title: "ready" }),
    statusColumn("dkim"),
    statusColumn("spf"),
    statusColumn("dmarc"),
    statusColumn("linkTracking", "links"),
    statusColumn("identity"),
    memberColumn("sslCertStatus", { title: "certificate" }),
    memberColumn("lastCheckedAt", { title: "checked", isTime: true }),
    memberColumn("provider"),
    id,
    memberColumn("nameServer", { title: "name server", optional: true }),
    created,
  ],
  id: recordId,
  empty: "No sending domains",
};

function columnsOf<T extends object>(...names: (keyof T & string)[]): Column<T>[] {
  return names.map((name) => ({ name, value: (item) => toCell(item[name]) }));
}

export const dnsRecordView: View<DnsRecord> = {
  columns: columnsOf<DnsRecord>("type", "name", "value", "ttl", "part", "status", "missing"),
  id: ({ name }) => String(toCell(name) ?? ""),
};

export function formatDnsRecord({ type, name, value }: DnsRecord): string {
  const cells = [type, name, value].map((cell) => escapeControls(String(toCell(cell) ?? "")));
  return `${cells.join("  ")}\n`;
}

/** One row for each number. */
export const figureView: View<Figure> = {
  columns: [
    ...columnsOf<Figure>("part", "name"),
    { name: "value", title: "count", value: ({ value }) => toCell(value) },
    { name: "previous", title: "before", value: ({ previous }) => toCell(previous) },
    ...columnsOf<Figure>("change", "rate"),
    { name: "rateChange", title: "rate change", value: ({ rateChange }) => toCell(rateChange) },
    ...columnsOf<Figure>("id", "time"),
  ],
  id: ({ id }) => String(toCell(id) ?? ""),
};

export const histogramView: View<unknown> = {
  columns: [
    memberColumn("date", { isWhole: true }),
    memberColumn("total"),
    memberColumn("detail", { optional: true }),
  ],
  id: (day) => String(toCell(readMember(day, "date")) ?? ""),
};

/** The numbers to people, in their words. @param formatTime in the zone of the report */
export function createFigureScreen(formatTime: (text: string) => string): View<Figure> {
  const [part, ...others] = figureView.columns;
  const columns = [...others, part!].filter(({ name }) => name !== "id");
  return {
    ...figureView,
    columns: columns.map((column) => ({
      ...column,
      isAside: column.name === "time" || column === part,
      isWhole: column.name === "time",
      value: (figure) => inWords(column, figure, formatTime),
    })),
  };
}

function inWords({ name, value }: Column<Figure>, figure: Figure, formatTime: (text: string) => string) {
  if (name === "name") return formatTime(nameFigure(figure));
  const cell = value(figure);
  if (name === "time") return formatTime(String(cell ?? ""));
  if (typeof cell !== "number" || !/change/i.test(name)) return cell;
  const sign = cell > 0 ? "+" : cell < 0 ? "−" : "";
  return `${sign}${Math.abs(cell).toLocaleString("en-US")} %`;
}

/** `unique opens` of `uniqueOpens`; names of links, campaigns and days stay as they are. */
function nameFigure({ part, name }: Figure): string {
  if (part.startsWith("campaign ")) return `${name} ${part.slice("campaign ".length)}`;
  if (["links", "engagement", "days"].includes(part)) return name;
  if (name === "count") return part;
  return name.replace(
    /([a-z])([A-Z])/g,
    (_both, one: string, other: string) => `${one} ${other.toLowerCase()}`,
  );
}
