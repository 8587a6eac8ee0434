import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../context.ts";
import { contactView, searchView } from "../service/contact-columns.ts";
import { contactConditions } from "../service/contact-filters.ts";
import { wholeContact } from "../service/contacts.ts";
import { presentList } from "../terminal/present.ts";
import type { SendOptions } from "../wire.ts";
import { addOutputFileFlags, repeatable } from "./flags.ts";
import { describeCommand } from "./help-text.ts";

interface ExportOptions extends OutputFileFlags {
  list?: string[];
  tag?: string[];
  status?: string;
  key?: string[];
  wait?: boolean;
  fresh?: boolean;
}

/** Longer than any hour, so that an export outlasts the hour's limit, in seconds. */
const untilNextHourSeconds = 3900;

export function registerExport(command: Command, context: Context): void {
  command
    .addOption(repeatable("--list <list>", "contacts of this list; several: of any of them"))
    .addOption(repeatable("--tag <tag>", "contacts with this tag; several: with any of them"))
    .option("--status <status>", "contacts with this primary status, such as active")
    .addOption(repeatable("--key <key>", "the contact with this key; several: each of them"))
    .option("--no-wait", "stop at the hour's limit in place of waiting for the next hour")
    .option("--fresh", "start over in place of going on with an earlier export into the same file")
    .action((options: ExportOptions) => runExport(context, options));
  addOutputFileFlags(command);
  describeCommand(command, {
    examples: [
      "ecm export > contacts.csv",
      "ecm export --list Newsletter --output-file newsletter.csv --safe-cells --bom",
      "ecm export -o ndjson | wc -l",
    ],
    output:
      "csv unless --output says otherwise: key, a column for each field, lists, tags, status, createdAt. Such a file imports again without a mapping and without a change.",
    exitCodes: {
      7: "the limit was reached; with --output-file the same command goes on",
      130: "interrupted; with --output-file the same command goes on",
    },
  });
}

async function runExport(context: Context, options: ExportOptions): Promise<void> {
  const { exportContacts, freshExport } = await import("../export/export.ts");
  const output = context.output(options, "csv");
  const connection = await context.connect("bulk");
  const { send, account } = connection;
  const structure = await account.structure();
  const conditions = await contactConditions(account, structure, options);
  const view = searchView(contactView(await account.complete(structure), await account.lists(structure)));
  const search = { structureId: structure._id, ...conditions, source: wholeContact };
  const sendOptions = waiting(context, options.wait !== false);

  if (output.outputFile === undefined || output.format === "table") {
    await presentList(
      context.terminal,
      output,
      exportContacts(send, search, freshExport(), sendOptions),
      view,
    );
    return;
  }
  const { openExportProgress } = await import("../export/progress.ts");
  const { openGrowingFile } = await import("../terminal/output-file.ts");
  const identity = [
    connection.profile.baseUrl.value,
    connection.profile.isSandbox,
    search,
    output,
    view.columns.map(({ name }) => name),
  ];
  const progress = await openExportProgress(
    context.folders.state,
    identity,
    context.clock.now(),
    options.fresh ?? false,
  );
  const { state } = progress;
  if (progress.isContinued)
    context.terminal.note(`goes on at page ${state.page}: ${state.given} contacts are written already`);
  const sink = await openGrowingFile(progress.partFile, output.outputFile);
  const contacts = exportContacts(send, search, state, sendOptions, async (ids) =>
    progress.recordPage(ids, await sink.flush()),
  );
  const count = await presentList(context.terminal, output, contacts, view, {
    sink,
    count: state.given,
    isOpened: progress.isContinued,
  });
  await progress.finish();
  context.terminal.note(`wrote ${count} contacts to ${output.outputFile}`);
}

function waiting(context: Context, mayWait: boolean): SendOptions {
  return {
    maxWaitSeconds: mayWait ? untilNextHourSeconds : 0,
    onEvent(event) {
      if (event.kind !== "waiting") return;
      const until = new Date(context.clock.now() + event.seconds * 1000).toISOString().slice(0, 19);
      context.terminal.note(`waiting until ${until}Z: ${event.why}`);
    },
  };
}
