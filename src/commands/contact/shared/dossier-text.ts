/** A dossier, as text and as a page for the person who asked for it. */
import type { ContactEvent } from "../../../api/events.ts";
import type { PlanChange, PlanLine } from "../../../bulk/index.ts";
import type { RunRecords } from "../../../privacy/dossier.ts";
import type { SuppressionState } from "../../../suppressions/suppressions.ts";
import { foldList, formatPage, markup } from "../../bulk/report/page.ts";

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
  /** Null where they could not be read. */
  events: ContactEvent[] | null;
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
  suppression: SuppressionState;
  runs: RunRecords[];
}

/** The same for each form. */
interface Section {
  title: string;
  facts?: [name: string, value: string][];
  sentences?: string[];
  /** Below another section. */
  isPart?: boolean;
}

const title = "What is known of a person";
const heading = `# ${title}`;

export function formatDossier(dossier: Dossier): string {
  const lines = [heading, "", escapeText(describeReading(dossier)), ""];
  for (const { title, facts = [], sentences = [], isPart } of listSections(dossier)) {
    lines.push(`${isPart ? "###" : "##"} ${escapeText(title)}`, "");
    lines.push(...facts.map(([name, value]) => `- ${escapeText(name)}: ${escapeText(value)}`));
    if (facts.length > 0) lines.push("");
    lines.push(...sentences.map((sentence) => `- ${escapeText(sentence)}`));
    if (sentences.length > 0) lines.push("");
  }
  return `${lines.join("\n").trimEnd()}\n`;
}

export function drawDossier(dossier: Dossier): string {
  const parts = listSections(dossier).map(({ title, facts = [], sentences = [], isPart }) => {
    const head = isPart ? markup`<h3>${title}</h3>` : markup`<h2>${title}</h2>`;
    const list = facts.map(([name, value]) => markup`<dt>${name}</dt><dd><bdi>${value}</bdi></dd>`);
    return markup`${head}${list.length > 0 ? markup`<dl>${list}</dl>` : undefined}${
      sentences.length > 0
        ? foldList(sentences.map((text) => markup`<li><bdi>${text}</bdi></li>`))
        : undefined
    }`;
  });
  return formatPage(title, markup`<p class="quiet">${describeReading(dossier)}</p>`, parts);
}

function describeReading({ receipt }: Dossier): string {
  return `Read on ${formatTime(receipt.time)} in ${receipt.account}.`;
}

function listSections({ contacts, suppression, runs }: Dossier): Section[] {
  const list = suppression.suppressed
    ? `On the suppression list since ${formatTime(suppression.addedAt!)}: never created again by this tool.`
    : "Not on the suppression list.";
  return [
    { title: "In the account", sentences: contacts.length === 0 ? ["No contact."] : [] },
    ...contacts.flatMap(listContactSections),
    { title: "Suppression", sentences: [list] },
    { title: "Runs of this machine", sentences: runs.length === 0 ? ["None."] : [] },
    ...runs.map(toRunSection),
  ];
}

function listContactSections(contact: NamedContact): Section[] {
  const { key, _id, structure, status, createdAt, updatedAt, fields, lists, tags, events } = contact;
  const facts: Section["facts"] = [
    ["Id", _id],
    ["Structure", structure],
    ["Status", status ?? "not told"],
    ...(createdAt ? [["Created", formatTime(createdAt)] as [string, string]] : []),
    ...(updatedAt ? [["Updated", formatTime(updatedAt)] as [string, string]] : []),
    ["Lists", lists.join(", ") || "none"],
    ["Tags", tags.join(", ") || "none"],
    ...Object.entries(fields),
  ];
  const told = events?.length === 0 ? ["None."] : events?.map(describeEvent);
  return [
    { title: key, facts, isPart: true },
    {
      title: `Events of the last ${contact.eventsKeptDays} days`,
      sentences: told ?? ["They could not be read: the key lacks the scope, or the service has none."],
      isPart: true,
    },
  ];
}

function describeEvent({ timestamp, type, ...more }: ContactEvent): string {
  const texts = Object.entries(more).filter(
    ([name, value]) => typeof value === "string" && value !== "" && !/id$/i.test(name),
  );
  const about = texts.map(([name, value]) => `${name} ${String(value)}`).join("; ");
  return `${formatTime(timestamp)}: ${type}${about === "" ? "" : ` (${about})`}`;
}

function toRunSection({ run, kind, startedAt, input, changes, notWritten, files }: RunRecords): Section {
  return {
    title: `${formatTime(startedAt)}: ${kind}${input === "" ? "" : ` of ${input}`} (run ${run})`,
    sentences: [
      ...(changes === null ? ["The run's journal is damaged: what was written is not certain."] : []),
      ...(changes ?? []).map(describeWritten),
      ...notWritten.map(describeNotWritten),
      ...files.map((file) => `This file may contain the person: ${file}`),
    ],
    isPart: true,
  };
}

const verbs: Partial<Record<PlanLine["action"], string>> = {
  create: "Created",
  update: "Changed",
  delete: "Deleted",
};

function describeWritten({ line, action, changes, message }: PlanLine): string {
  const place = line === null ? "" : `, from line ${line}`;
  const what = changes.map((change) => describeChange(change, action)).join("; ");
  return `${verbs[action] ?? action}${place}${what === "" ? "" : `: ${what}`}${message ? ` (${message})` : ""}.`;
}

function describeNotWritten({ line, action, code, message }: PlanLine): string {
  const place = line === null ? "" : `Line ${line}: `;
  const why = message ?? code?.replaceAll("_", " ");
  const words: Partial<Record<PlanLine["action"], string>> = {
    reject: "rejected",
    skip: "skipped",
    unchanged: "nothing to change",
  };
  return `${place}${words[action] ?? `planned (${action}), not written`}${why ? `: ${why}` : ""}.`;
}

function describeChange({ what, name, before, after }: PlanChange, action: PlanLine["action"]): string {
  if (typeof after === "boolean")
    return what === "list"
      ? `${after ? "added to" : "removed from"} the list ${name}`
      : `tag ${name} ${after ? "added" : "removed"}`;
  const label = what === "status" ? "Status" : name;
  const value = after === "" ? "(empty)" : after;
  if (action === "create" || before === null) return `${label}: ${value}`;
  return `${label}: ${before === "" ? "(empty)" : before} → ${value}`;
}

/** `2026-11-22 14:02 UTC`: a reader may be elsewhere. */
function formatTime(text: string): string {
  return `${text.slice(0, 16).replace("T", " ")} UTC`;
}

/** Values are other people's text: they must not become markup. */
function escapeText(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&").replace(/\s+/g, " ");
}
