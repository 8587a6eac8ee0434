import type { Command } from "@commander-js/extra-typings";
import { wholeContact } from "../api/contacts.ts";
import type { Context, OutputFileFlags } from "../context.ts";
import { formatCounted } from "../counts.ts";
import { readAllContacts } from "../service/contact-pages.ts";
import type { Contact } from "../wire.ts";
import { addOutputFileFlags, addTableFlags } from "./flags/flags.ts";
import { parsePastTime } from "./flags/times.ts";
import { createContactColumnsView, toSearchView } from "./output/contact-columns.ts";
import {
  addSelectionFlags,
  type ResolveConditions,
  textOption,
  withConditions,
} from "./selection/conditions.ts";
import { readNamedLists } from "./selection/lookups.ts";
import { type Result, verb } from "./verb.ts";

/** Longer than any hour, so that an export outlasts the hour's limit, in seconds. */
const maxWaitForHourSeconds = 3900;

export function register(command: Command, context: Context): void {
  const exporting = addSelectionFlags(command)
    .addOption(textOption())
    .option("--all", "every contact of the structure, as without conditions")
    .option(
      "--since <time>",
      "contacts updated after this time: RFC 3339, a date, or 24h for the last 24 hours",
    )
    .option("--no-wait", "stop at the hourly limit instead of waiting for the next hour");
  verb(context, addOutputFileFlags(addTableFlags(exporting)), {
    examples: [
      "ecm export > contacts.csv",
      "ecm export --list Newsletter --output-file newsletter.xlsx",
      "ecm export -o ndjson | wc -l",
      "ecm export --since 24h --output-file changed.csv",
    ],
    output:
      "csv unless --output or the file's name says otherwise: key, a column for each field, lists, tags, status, createdAt. Such a file imports again without a mapping and without a change.",
    fallback: "csv",
    run(flags) {
      const { since } = flags;
      const now = context.clock.now();
      const updatedAfter = since === undefined ? undefined : parsePastTime(since, "--since", now);
      const conditions = { ...flags, updatedAfter };
      return withConditions(context, conditions, (resolve) => exportSelected(context, flags, resolve));
    },
  });
}

async function exportSelected(
  context: Context,
  options: OutputFileFlags & { wait?: boolean },
  conditions: ResolveConditions,
): Promise<Result<Partial<Contact>>> {
  const { outputFile } = context.output(options, "csv");
  const what = outputFile === undefined ? "An export" : `The export into ${outputFile}`;
  await context.tellUnderWay({ kind: "export", what, inputs: [] });
  const { send, account, behaviors } = await context.connect();
  const structure = await account.structure();
  const found = await conditions(account, structure);
  const lists = await readNamedLists(context, account, structure);
  const view = toSearchView(createContactColumnsView(await account.complete(structure), lists));
  const search = { ...found, source: wholeContact, readsStatus: true };
  const behavior = behaviors(structure._id);
  const sendOptions = { maxWaitSeconds: options.wait === false ? 0 : maxWaitForHourSeconds, behavior };
  const onShown = (count: number) => {
    const contacts = formatCounted(count, "contact");
    if (outputFile !== undefined) context.terminal.note(`Wrote ${contacts} to ${outputFile}`);
  };
  return { many: readAllContacts(send, search, sendOptions), view, onShown };
}
