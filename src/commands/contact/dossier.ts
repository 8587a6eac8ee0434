import { type Command, Option } from "commander";
import { maxDays } from "../../api/events.ts";
import type { Context, OutputFileFlags } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { findContactsOfKey, type KnownContacts } from "../../service/erase-contact.ts";
import { openOutput } from "../../terminal/output-file.ts";
import { addFileFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { openSuppressionList } from "../shared/suppression-list.ts";
import type { Dossier, NamedContact } from "./shared/dossier-text.ts";
import { readPeople } from "./shared/people.ts";

interface DossierFlags extends OutputFileFlags {
  output?: "json" | "markdown";
}

export function registerContactDossier(parent: Command, context: Context): void {
  const command = parent
    .command("dossier")
    .description("show all that is known of a person, for a request of access")
    .argument("<key>", "the contact's key, such as an email address")
    .addOption(new Option("-o, --output <format>", "format").choices(["json", "markdown"]));
  addFileFlag(command).action((key: string, flags: DossierFlags) => runContactDossier(context, key, flags));
  describeCommand(command, {
    examples: [
      "ecm contact dossier ada@example.com",
      "ecm contact dossier ada@example.com -o markdown --output-file ada.md",
    ],
    output:
      "The contact with names in place of ids, its events, and what this machine keeps: runs with the values before and after, rejected rows, backups, exports, the suppression, sandboxes, and files elsewhere. `receipt` says when and how much was found, without the address.",
    exitCodes: { 0: "done, even if nothing is known of the person" },
  });
}

async function runContactDossier(context: Context, typedKey: string, flags: DossierFlags): Promise<void> {
  const { terminal } = context;
  const format = chooseFormat(context, flags);
  // Checked before anything is read.
  const output = context.output(flags, "json", "markdown");
  const [spellings] = await readPeople(context, [typedKey], ecm`contact dossier KEY`);
  const dossier = await readDossier(context, spellings!);
  const { formatDossier } = await import("./shared/dossier-text.ts");
  const text = format === "json" ? `${JSON.stringify(dossier, null, 2)}\n` : formatDossier(dossier);
  const sink = await openOutput(terminal, { ...output, format: "json" });
  await sink.write(text);
  await sink.commit();
  const { found } = dossier.receipt;
  const parts = Object.entries(found).filter(([, count]) => count > 0);
  terminal.note(
    parts.length === 0
      ? "Nothing is known of this person"
      : `Found: ${parts.map(([place, count]) => `${place} ${count}`).join(", ")}`,
  );
}

function chooseFormat(context: Context, flags: DossierFlags): "json" | "markdown" {
  if (flags.output) return flags.output;
  if (flags.outputFile?.toLowerCase().endsWith(".md")) return "markdown";
  if (context.output().format.endsWith("json")) return "json";
  if (flags.outputFile !== undefined) return "json";
  return context.terminal.isStdoutTerminal ? "markdown" : "json";
}

async function readDossier(context: Context, spellings: readonly string[]): Promise<Dossier> {
  const { folders, clock } = context;
  const [{ createRedactor }, { createFileReaders, listKnownContacts }, { visitPlaces }] = await Promise.all([
    import("../../privacy/redaction.ts"),
    import("../../privacy/dossier.ts"),
    import("../../privacy/places.ts"),
  ]);
  const redactor = createRedactor(spellings);
  const holds = (text: string) => redactor.isIn(Buffer.from(text).toString("latin1"));
  const { baseUrl } = await context.profile();
  const readers = createFileReaders(folders, redactor);
  // Read first: they may name contacts that no search finds yet.
  const runRecords = await readers.runs();
  const known = listKnownContacts(runRecords, baseUrl.value);
  const found = await visitPlaces({
    suppressions: async () => (await openSuppressionList(context)).describe(spellings[0]!),
    account: () => readFromAccount(context, spellings, known),
    ...readers,
    runs: async () => runRecords,
    sandboxes: async () => (await context.sandboxFiles()).read(spellings, holds),
  });
  const { suppressions, account, elsewhere, runs, exports, files, sandboxes } = found;
  return {
    receipt: {
      time: new Date(clock.now()).toISOString(),
      account: baseUrl.value,
      hash: suppressions?.hash ?? null,
      found: {
        contacts: account.length,
        events: account.reduce((sum, { events }) => sum + events.length, 0),
        suppressions: suppressions?.suppressed ? 1 : 0,
        runs: runs.length,
        exports: exports.length,
        files: files.length,
        sandboxes: sandboxes.length,
        elsewhere: elsewhere.length,
      },
    },
    contacts: account,
    suppression: suppressions ?? null,
    runs,
    exports,
    files,
    sandboxes,
    elsewhere,
  };
}

/** Every contact of the person, whole, with names and events. */
async function readFromAccount(
  context: Context,
  spellings: readonly string[],
  known: KnownContacts,
): Promise<NamedContact[]> {
  const [{ fetchContact }, { readFeed }, { findStatus, formatStatus }] = await Promise.all([
    import("../../service/mutate-contact.ts"),
    import("../../events/feed.ts"),
    import("../../api/contacts.ts"),
  ]);
  const { send, account } = await context.connect();
  const named: NamedContact[] = [];
  for (const { _id } of await findContactsOfKey(send, account, spellings, known)) {
    const contact = await fetchContact(send, _id);
    const structures = await account.structures();
    const own =
      structures.find((each) => each._id === contact.contactStructureId) ?? (await account.structure());
    const { structure, lists } = await account.naming(own, [contact]);
    const labels = new Map(structure.fields.map((field) => [field._id, field.label]));
    const listNames = new Map(lists.map((list) => [list._id, list.name]));
    const tagLabels = new Map(structure.tags?.map((tag) => [tag._id, tag.label]));
    const nameAll = (refs: { _id: string }[] = [], names: ReadonlyMap<string, string>) =>
      refs.map((ref) => names.get(ref._id) ?? ref._id);
    const {
      fields = [],
      lists: inLists,
      tags,
      status: _status,
      contactStructureId: _own,
      __v,
      ...rest
    } = contact;
    named.push({
      ...rest,
      structure: structure.label,
      status: formatStatus(findStatus(contact)),
      fields: Object.fromEntries(fields.map(({ _id: id, value }) => [labels.get(id) ?? id, value])),
      lists: nameAll(inLists, listNames),
      tags: nameAll(tags, tagLabels),
      events: (await readFeed(send, { contactId: _id, types: [], pastDays: maxDays })).events,
      eventsKeptDays: maxDays,
    });
  }
  return named;
}
