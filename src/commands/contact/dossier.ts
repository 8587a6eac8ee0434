import { extname } from "node:path";
import { type Command, Option } from "@commander-js/extra-typings";
import { type ContactEvent, maxDays } from "../../api/events.ts";
import type { Context, OutputFileFlags } from "../../context.ts";
import { hasStatus, isNotOffered, usageError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { findContactsOfKey, type KnownContacts } from "../../service/erase-contact.ts";
import { openFileOutput } from "../../terminal/output-file.ts";
import type { Send } from "../../wire.ts";
import { addFileFlag } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { openSuppressionList } from "../selection/suppression-list.ts";
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
      "ecm contact dossier ada@example.com --output-file ada.html",
    ],
    output:
      "Markdown, or JSON: the contact by labels, its events, the suppression, and the runs of this machine that name the person, with what they changed. The name of --output-file says the form: .html, .md or .json. `receipt` says when and how much was found, without the address.",
    exitCodes: { 0: "done, even if nothing is known of the person" },
  });
}

type Form = "json" | "markdown" | "html";

async function runContactDossier(context: Context, typedKey: string, flags: DossierFlags): Promise<void> {
  const { terminal } = context;
  const form = chooseForm(context, flags);
  const { outputFile } = flags;
  // Checked before anything is read.
  if (outputFile !== undefined) context.files.writes(outputFile, "--output-file");
  const { formatDossier, drawDossier } = await import("./shared/dossier-text.ts");
  const [spellings] = await readPeople(context, [typedKey], ecm`contact dossier KEY`);
  const dossier = await readDossier(context, spellings!);
  const text = {
    json: () => `${JSON.stringify(dossier, null, 2)}\n`,
    markdown: () => formatDossier(dossier),
    html: () => drawDossier(dossier),
  }[form]();
  if (outputFile === undefined) await terminal.write(text);
  else {
    const sink = await openFileOutput(outputFile);
    await sink.write(text);
    await sink.commit();
  }
  const parts = Object.entries(dossier.receipt.found).filter(([, count]) => count > 0);
  terminal.note(
    parts.length === 0
      ? "Nothing is known of this person"
      : `Found: ${parts.map(([place, count]) => `${place} ${count}`).join(", ")}`,
  );
}

const formsByEnding: Record<string, Form> = { ".html": "html", ".md": "markdown", ".json": "json" };

/** @throws UsageError for a file whose name ends in another way, or says another format than the flag */
function chooseForm(context: Context, { output, outputFile }: DossierFlags): Form {
  const asked = output ?? (context.output().format === "json" ? "json" : undefined);
  if (outputFile === undefined) return asked ?? "markdown";
  const form = formsByEnding[extname(outputFile).toLowerCase()];
  if (form === undefined)
    throw usageError(
      `--output-file: ${outputFile} does not say how the dossier is written`,
      "Let its name end in .html, .md or .json",
    );
  if (asked === undefined || asked === form) return form;
  throw usageError(
    `--output-file: the name of ${outputFile} says ${form}, and --output says ${asked}`,
    "Leave out --output, or change the name",
  );
}

async function readDossier(context: Context, spellings: readonly string[]): Promise<Dossier> {
  const { folders, clock, terminal } = context;
  const { readRunsOf } = await import("../../privacy/dossier.ts");
  const { baseUrl } = await context.profile();
  const { runs, known } = await readRunsOf(folders.state, baseUrl.value, spellings, ({ message }) =>
    terminal.warn(message),
  );
  const suppression = (await openSuppressionList(context)).describe(spellings[0]!);
  const contacts = await readFromAccount(context, spellings, known);
  return {
    receipt: {
      time: new Date(clock.now()).toISOString(),
      account: baseUrl.value,
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

/** Every contact of the person, whole, with names and events. */
async function readFromAccount(
  context: Context,
  spellings: readonly string[],
  known: KnownContacts,
): Promise<NamedContact[]> {
  const [{ fetchContact }, { findStatus, formatStatus }] = await Promise.all([
    import("../../service/mutate-contact.ts"),
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
      events: await readEvents(send, _id),
      eventsKeptDays: maxDays,
    });
  }
  return named;
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
