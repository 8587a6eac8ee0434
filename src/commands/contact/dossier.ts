/** A dossier, as text and as a page for the person who asked for it. */
import { extname } from "node:path";
import { type Command, Option } from "@commander-js/extra-typings";
import { findStatus, formatStatus } from "../../api/contacts.ts";
import { type ContactEvent, maxDays } from "../../api/events.ts";
import type { PlanChange, PlanLine } from "../../bulk/index.ts";
import type { Connection, Context } from "../../context.ts";
import { joinNames } from "../../delimited-lines.ts";
import { hasStatus, isNotOffered, usageError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { formatUtcTime } from "../../moments.ts";
import type { RunRecords } from "../../privacy/dossier.ts";
import { findContactsOfKey } from "../../service/erase-contact.ts";
import { fetchContact } from "../../service/mutate-contact.ts";
import { escapeMarkdown } from "../../terminal/escape.ts";
import type { Send } from "../../wire.ts";
import { withReason } from "../bulk/words.ts";
import { addFileFlag } from "../flags/flags.ts";
import { drawList, formatPage, markup } from "../output/page.ts";
import { readPeople } from "../selection/keys.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { listNames, readNaming } from "./view.ts";

type Form = "json" | "markdown" | "html";

interface DossierFlags {
  output?: Form;
  outputFile?: string;
}

export function registerContactDossier(parent: Command, context: Context): void {
  const command = parent
    .command("dossier")
    .description("show all that is known of a person, for a request of access")
    .argument("<key>", "the contact's key, such as an email address")
    .addOption(new Option("-o, --output <format>", "format").choices(["json", "markdown"] as const));
  verb(context, addFileFlag(command), {
    examples: [
      "ecm contact dossier ada@example.com",
      "ecm contact dossier ada@example.com --output-file ada.html",
    ],
    output:
      "Markdown, or JSON: the contact by labels, its events, the suppression, and the runs of this machine that name the person, with what they changed. The name of --output-file says the form: .html, .md or .json. `receipt` says when and how much was found, without the address.",
    exitCodes: { 0: "done, even if nothing is known of the person" },
    chooseOutput(flags: DossierFlags) {
      const { outputFile } = flags;
      const format = chooseForm(context, flags) === "json" ? "json" : "table";
      if (outputFile !== undefined) context.files.writes(outputFile, "--output-file");
      return { format, outputFile };
    },
    async run(key, flags) {
      const [spellings] = await readPeople(context, [key], ecm`contact dossier KEY`);
      const value = await readDossier(context, spellings!);
      const found = Object.entries(value.receipt.found).filter(([, count]) => count > 0);
      const counts = found.map(([place, count]) => `${place} ${count}`).join(", ");
      return {
        value,
        text: chooseForm(context, flags) === "html" ? drawDossier(value) : formatDossier(value),
        note: counts === "" ? "Nothing is known of this person" : `Found: ${counts}`,
      };
    },
  });
}

const formsByEnding: Record<string, Form> = { ".html": "html", ".md": "markdown", ".json": "json" };

/** @throws UsageError for a file whose name ends in another way, or says another format than the flag */
function chooseForm(context: Context, { output, outputFile }: DossierFlags): Form {
  if (outputFile === undefined) return output ?? (context.output().format === "json" ? "json" : "markdown");
  const asked = output ?? (context.requestedFormat() === "json" ? "json" : undefined);
  const form = formsByEnding[extname(outputFile).toLowerCase()];
  if (form !== undefined && (asked === undefined || asked === form)) return form;
  throw usageError(
    `--output-file: the name of ${outputFile} does not say ${asked ?? "how the dossier is written"}`,
    "Let its name end in .html, .md or .json, as --output says",
  );
}

type Dossier = Awaited<ReturnType<typeof readDossier>>;
type NamedContact = Dossier["contacts"][number];

async function readDossier(context: Context, spellings: readonly string[]) {
  const { folders, clock, terminal } = context;
  const { readRunsOf } = await import("../../privacy/dossier.ts");
  const account = (await context.profile()).accountAddress;
  const { runs, known } = await readRunsOf(folders.state, account, spellings, ({ message }) =>
    terminal.warn(message),
  );
  const suppression = (await openSuppressionList(context)).describe(spellings[0]!);
  const connection = await context.connect();
  const contacts = [];
  for (const { _id } of await findContactsOfKey(connection.send, connection.account, spellings, known))
    contacts.push(await readNamedContact(connection, _id));
  return {
    /** What was done, without the address. */
    receipt: {
      /** RFC 3339, UTC. */
      time: new Date(clock.now()).toISOString(),
      account,
      /** The keyed hash of the suppression list; null where there is no list. */
      hash: suppression.hash ?? null,
      found: {
        contacts: contacts.length,
        events: contacts.reduce((sum, { events }) => sum + (events?.length ?? 0), 0),
        suppressions: suppression.suppressed ? 1 : 0,
        runs: runs.length,
      },
    },
    contacts,
    suppression,
    runs,
  };
}

/** A contact with names in place of ids, and what happened to it. */
async function readNamedContact({ send, account }: Connection, id: string) {
  const contact = await fetchContact(send, id);
  const naming = await readNaming(account, contact);
  const names = listNames(naming);
  const toName = ({ _id }: { _id: string }) => names.get(_id) ?? _id;
  const { fields = [], lists: inLists = [], tags = [], contactStructureId: _own, __v, ...rest } = contact;
  return {
    ...rest,
    structure: naming.structure.label,
    status: formatStatus(findStatus(contact)),
    /** By label. */
    fields: Object.fromEntries(fields.map((field): [string, string] => [toName(field), field.value])),
    lists: inLists.map(toName),
    tags: tags.map(toName),
    events: await readEvents(send, id),
    /** The service keeps no older ones. */
    eventsKeptDays: maxDays,
  };
}

/** Null where the key may not read them, or the service has none. */
async function readEvents(send: Send, contactId: string): Promise<ContactEvent[] | null> {
  const { readFeed } = await import("../../events/feed.ts");
  try {
    return (await readFeed(send, { contactId, types: [], pastDays: maxDays })).events;
  } catch (error) {
    if (hasStatus(error, 403, 404) || isNotOffered(error)) return null;
    throw error;
  }
}

/** A part of the dossier, in whichever form it is shown. */
interface Section {
  title: string;
  lines: string[];
  /** Below another section. */
  isPart?: boolean;
}

const title = "What is known of a person";

function formatDossier(dossier: Dossier): string {
  const sections = listSections(dossier).map(({ title, lines, isPart }) => {
    const texts = lines.map((line) => `- ${escapeMarkdown(line)}\n`);
    return `\n${isPart ? "###" : "##"} ${escapeMarkdown(title)}\n${texts.length > 0 ? "\n" : ""}${texts.join("")}`;
  });
  return `# ${title}\n\n${escapeMarkdown(describeReading(dossier))}\n${sections.join("")}`;
}

function drawDossier(dossier: Dossier): string {
  const parts = listSections(dossier).map(({ title, lines, isPart }) => {
    const head = isPart ? markup`<h3>${title}</h3>` : markup`<h2>${title}</h2>`;
    return markup`${head}${lines.length > 0 ? drawList(lines) : undefined}`;
  });
  return formatPage(title, markup`<p class="quiet">${describeReading(dossier)}</p>`, parts);
}

function describeReading({ receipt }: Dossier): string {
  return `Read on ${formatUtcTime(receipt.time)} in ${receipt.account}.`;
}

function listSections({ contacts, suppression, runs }: Dossier): Section[] {
  const list = suppression.suppressed
    ? `On the suppression list since ${formatUtcTime(suppression.addedAt!)}: never created again by this tool.`
    : "Not on the suppression list.";
  return [
    { title: "In the account", lines: contacts.length === 0 ? ["No contact."] : [] },
    ...contacts.flatMap(listContactSections),
    { title: "Suppression", lines: [list] },
    { title: "Runs of this machine", lines: runs.length === 0 ? ["None."] : [] },
    ...runs.map(toRunSection),
  ];
}

function listContactSections(contact: NamedContact): Section[] {
  const { key, _id, structure, status, createdAt, updatedAt, fields, lists, tags, events } = contact;
  const facts: [name: string, value: string][] = [
    ["Id", _id],
    ["Structure", structure],
    ["Status", status ?? "not told"],
    ["Created", createdAt ? formatUtcTime(createdAt) : "not told"],
    ["Updated", updatedAt ? formatUtcTime(updatedAt) : "not told"],
    ["Lists", joinNames(lists, ", ") || "none"],
    ["Tags", joinNames(tags, ", ") || "none"],
    ...Object.entries(fields),
  ];
  const described = events?.length === 0 ? ["None."] : events?.map(describeEvent);
  const untold = ["They could not be read: the key lacks the scope, or the service has none."];
  return [
    { title: key, lines: facts.map((fact) => fact.join(": ")), isPart: true },
    { title: `Events of the last ${contact.eventsKeptDays} days`, lines: described ?? untold, isPart: true },
  ];
}

function describeEvent({ timestamp, type, ...more }: ContactEvent): string {
  const texts = Object.entries(more).filter(
    ([name, value]) => typeof value === "string" && value !== "" && !/id$/i.test(name),
  );
  const about = texts.map(([name, value]) => `${name} ${String(value)}`).join("; ");
  return `${formatUtcTime(timestamp)}: ${type}${about === "" ? "" : ` (${about})`}`;
}

function toRunSection({ run, kind, startedAt, input, changes, notWritten, files }: RunRecords): Section {
  return {
    title: `${formatUtcTime(startedAt)}: ${kind}${input === "" ? "" : ` of ${input}`} (run ${run})`,
    lines: [
      ...(changes === null ? ["The run's journal is damaged: what was written is not certain."] : []),
      ...(changes ?? []).map((line) => describeWritten(withReason(line))),
      ...notWritten.map(describeNotWritten),
      ...files.map((file) => `This file may contain the person: ${file}`),
    ],
    isPart: true,
  };
}

const written: Partial<Record<PlanLine["action"], string>> = {
  create: "Created",
  update: "Changed",
  delete: "Deleted",
};

const notWritten: Partial<Record<PlanLine["action"], string>> = {
  reject: "rejected",
  skip: "skipped",
  unchanged: "nothing to change",
};

function describeWritten({ line, action, changes, message }: PlanLine): string {
  const place = line === null ? "" : `, from line ${line}`;
  const what = changes.map((change) => describeChange(change, action)).join("; ");
  return `${written[action] ?? action}${place}${what && `: ${what}`}${message ? ` (${message})` : ""}.`;
}

function describeNotWritten({ line, action, code, message }: PlanLine): string {
  const place = line === null ? "" : `Line ${line}: `;
  const why = message ?? code?.replaceAll("_", " ");
  return `${place}${notWritten[action] ?? `planned (${action}), not written`}${why ? `: ${why}` : ""}.`;
}

function describeChange({ what, name, before, after }: PlanChange, action: PlanLine["action"]): string {
  if (what === "list") return `${after ? "added to" : "removed from"} the list ${name}`;
  if (what === "tag") return `tag ${name} ${after ? "added" : "removed"}`;
  const label = what === "status" ? "Status" : name;
  const from = action === "create" || before === null ? "" : `${before || "(empty)"} → `;
  return `${label}: ${from}${after || "(empty)"}`;
}
