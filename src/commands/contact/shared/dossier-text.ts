/** A dossier, and as text for the person who asked for it. */
import type { ContactEvent } from "../../../api/events.ts";
import type { PlanChange, PlanLine } from "../../../bulk/index.ts";
import type { SandboxFiles } from "../../../context.ts";
import type { FileRecords, RunRecords } from "../../../privacy/dossier.ts";
import type { SuppressionState } from "../../../privacy/suppressions.ts";

/** A contact with names in place of ids, and what happened to it. */
export interface NamedContact {
  _id: string;
  key: string;
  structure: string;
  status: string | null;
  /** By label. */
  fields: Record<string, string>;
  lists: string[];
  tags: string[];
  events: ContactEvent[];
  /** The service keeps no older ones. */
  eventsKeptDays: number;
  createdAt?: string;
  updatedAt?: string;
}

export interface Dossier {
  /** What was done, without the address. */
  receipt: {
    /** RFC 3339, UTC. */
    time: string;
    /** Base address of the account. */
    account: string;
    /** The keyed hash of the suppression list; null where there is no list. */
    hash: string | null;
    found: Record<string, number>;
  };
  contacts: NamedContact[];
  suppression: SuppressionState | null;
  runs: RunRecords[];
  exports: FileRecords[];
  files: FileRecords[];
  sandboxes: Awaited<ReturnType<SandboxFiles["read"]>>;
  elsewhere: FileRecords[];
}

export function formatDossier(dossier: Dossier): string {
  const { receipt, contacts, suppression, runs, exports, files, sandboxes, elsewhere } = dossier;
  const lines = [
    "# What is known of a person",
    "",
    `Read on ${receipt.time} in ${receipt.account}.`,
    "",
    "## In the account",
    "",
    ...(contacts.length === 0 ? ["No contact.", ""] : contacts.flatMap(formatContact)),
    "## Suppression",
    "",
    formatSuppression(suppression),
    "",
    "## Runs on this machine",
    "",
    ...(runs.length === 0 ? ["None.", ""] : runs.flatMap(formatRun)),
    ...formatFiles("Exports under way", exports),
    ...formatFiles("Other files of ecm", files),
    ...formatSection(
      "Sandboxes",
      sandboxes.map(({ file, contacts: held, mentions }) => {
        const others = Object.entries(mentions).map(([table, count]) => `${count} in ${table}`);
        return `- ${escapeText(file)}: ${[`${held.length} in contacts`, ...others].join(", ")}`;
      }),
    ),
    ...formatFiles("Files elsewhere", elsewhere),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function formatContact(contact: NamedContact): string[] {
  const { key, _id, structure, status, createdAt, updatedAt, fields, lists, tags, events } = contact;
  return [
    `### ${escapeText(key)}`,
    "",
    `- Id: ${_id}`,
    `- Structure: ${escapeText(structure)}`,
    `- Status: ${status ?? "not told"}`,
    ...(createdAt ? [`- Created: ${createdAt}`] : []),
    ...(updatedAt ? [`- Updated: ${updatedAt}`] : []),
    `- Lists: ${lists.map(escapeText).join(", ") || "none"}`,
    `- Tags: ${tags.map(escapeText).join(", ") || "none"}`,
    ...Object.entries(fields).map(([label, value]) => `- ${escapeText(label)}: ${escapeText(value)}`),
    "",
    `Events (the service keeps ${contact.eventsKeptDays} days):`,
    "",
    ...(events.length === 0 ? ["None."] : events.map(formatEvent)),
    "",
  ];
}

function formatEvent({ timestamp, type, ...more }: ContactEvent): string {
  const texts = Object.entries(more).filter(([, value]) => typeof value === "string" && value !== "");
  const about = texts.map(([name, value]) => `${name} ${escapeText(String(value))}`).join("; ");
  return `- ${timestamp} ${type}${about === "" ? "" : ` (${about})`}`;
}

function formatSuppression(suppression: SuppressionState | null): string {
  if (!suppression?.suppressed) return "Not on the suppression list.";
  return `On the suppression list since ${suppression.addedAt}`;
}

function formatRun({ run, kind, startedAt, account, input, planned, changes, files }: RunRecords): string[] {
  const lines = changes ?? [];
  // What was written is told as such.
  const others = planned.filter(
    ({ action }) => changes === null || !["create", "update", "delete"].includes(action),
  );
  return [
    `### ${run ?? "A folder without a run"}${kind === null ? "" : ` (${kind})`}`,
    "",
    ...(startedAt ? [`- Began: ${startedAt}`] : []),
    ...(account ? [`- Account: ${account}`] : []),
    ...(input ? [`- Input: ${escapeText(input)}`] : []),
    ...(changes === null ? ["- Its journal is damaged: what was written is not certain"] : []),
    ...lines.flatMap((line) => formatLine(line, "Written")),
    ...others.flatMap((line) => formatLine(line, "Planned")),
    ...files.flatMap(formatFile),
    "",
  ];
}

function formatLine(
  { line, action, code, changes, row }: PlanLine & { row?: Record<string, string> },
  what: string,
): string[] {
  const place = line === null ? "" : `, line ${line}`;
  return [
    `- ${what}${place}: ${action}${code === null ? "" : ` (${code})`}`,
    ...changes.map((change) => `  - ${formatChange(change)}`),
    ...formatRecord(row ?? {}).map((each) => `  ${each}`),
  ];
}

function formatChange({ what, name, before, after }: PlanChange): string {
  const show = (value: PlanChange["before"]) =>
    value === null || value === ""
      ? "(empty)"
      : typeof value === "boolean"
        ? value
          ? "yes"
          : "no"
        : escapeText(value);
  return `${what} ${escapeText(name)}: ${before === null ? "" : `${show(before)} → `}${show(after)}`;
}

function formatFiles(title: string, files: readonly FileRecords[]): string[] {
  return formatSection(title, files.flatMap(formatFile));
}

function formatFile({ file, isSearched, records, mentions }: FileRecords): string[] {
  const what = isSearched
    ? mentions > 0
      ? ` (also named in ${mentions === 1 ? "another record" : `${mentions} other records`})`
      : ""
    : " (compressed; not searched)";
  return [
    `- ${escapeText(file)}${what}`,
    ...records.flatMap((record) => formatRecord(record).map((each) => `  ${each}`)),
  ];
}

function formatRecord(record: Record<string, unknown>): string[] {
  return Object.entries(record)
    .filter(([, value]) => value !== "" && value !== null)
    .map(
      ([name, value]) =>
        `- ${escapeText(name)}: ${escapeText(typeof value === "string" ? value : JSON.stringify(value))}`,
    );
}

function formatSection(title: string, lines: readonly string[]): string[] {
  return [`## ${title}`, "", ...(lines.length === 0 ? ["None."] : lines), ""];
}

/** Values are other people's text: they must not become markup. */
function escapeText(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&").replace(/\s+/g, " ");
}
