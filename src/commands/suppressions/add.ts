import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { exitCodes, UsageError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { presentList } from "../../terminal/present.ts";
import { describeCommand } from "../shared/help-text.ts";
import { addMarkedRowsFlags, type MarkedRowsFlags, readMarkedRowsFlags } from "../shared/marked-rows.ts";
import { openSuppressionList } from "../shared/suppression-list.ts";
import { readKeysFromFile, readTypedKeys } from "./shared/keys-to-add.ts";
import { formatKeyCount, requireKeys, suppressedView } from "./shared/view.ts";

interface SuppressionsAddFlags extends MarkedRowsFlags {
  keys?: string;
}

export function registerSuppressionsAdd(parent: Command, context: Context): void {
  const command = parent
    .command("add")
    .description("suppress keys: import, lists sync and contact create skip them")
    .argument("[key...]", "contact keys, such as email addresses")
    .option(
      "--keys <file>",
      "a file of keys: one per line, or a table that import reads, with a key column; - for standard input",
    );
  addMarkedRowsFlags(command).action((keys: string[], flags: SuppressionsAddFlags) =>
    runSuppressionsAdd(context, keys, flags),
  );
  describeCommand(command, {
    isLocal: true,
    examples: [
      "ecm suppressions add ada@example.com",
      "ecm suppressions add --keys bounces.csv --map Recipient=key",
      "ecm suppressions add --keys crm.csv --marked-rows",
    ],
    output: "The keyed hash of each key, and when it was added: { hash, addedAt }. No address is stored.",
    exitCodes: {
      1: "the list cannot be read or written",
      3: "added, but some lines of the file have no valid key",
    },
  });
}

async function runSuppressionsAdd(
  context: Context,
  typedKeys: string[],
  flags: SuppressionsAddFlags,
): Promise<void> {
  const { terminal } = context;
  if (flags.keys !== undefined && typedKeys.length > 0) {
    throw new UsageError("--keys names all keys and cannot be used with others", "Leave out one of the two");
  }
  const output = context.output();
  if (flags.keys === undefined) requireKeys(typedKeys, ecm`suppressions add KEY`);
  const reading = readMarkedRowsFlags(flags.keys, flags);
  const { keys, remarks, rejected } =
    flags.keys === undefined
      ? await readTypedKeys(context, typedKeys)
      : await readKeysFromFile(context, flags.keys, reading);
  const list = await openSuppressionList(context, { mayBeMissing: true });
  const { entries, added } = await list.add(keys, context.clock.now());
  const alreadyListed = entries.length - added;
  terminal.note(
    `Added ${formatKeyCount(added)} to the suppression list${alreadyListed > 0 ? `; ${formatKeyCount(alreadyListed)} ${alreadyListed === 1 ? "was" : "were"} already on it` : ""}`,
  );
  for (const line of [...remarks, ...rejected].slice(0, maxLinesShown)) terminal.note(line, "needed");
  if (rejected.length > 0) {
    terminal.note(
      `${formatKeyCount(rejected.length)} of the file not added: fix them and add the file again`,
      "needed",
    );
    context.endWith(exitCodes.rejectedRows);
  }
  await presentList(terminal, output, entries, suppressedView);
}

const maxLinesShown = 20;
