import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { exitCodes, usageError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents } from "../output/presents.ts";
import { addMarkedRowsFlags, readMarkedRowsFlags } from "../selection/keys.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { readKeysFromFile, readTypedKeys } from "./shared/keys-to-add.ts";
import { formatKeyCount, requireKeys, suppressedView } from "./shared/view.ts";

export function registerSuppressionsAdd(parent: Command, context: Context): void {
  const { terminal } = context;
  const command = parent
    .command("add")
    .description("suppress keys: import, lists sync and contact create skip them")
    .argument("[key...]", "contact keys, such as email addresses")
    .option(
      "--keys <file>",
      "a file of keys: one per line, or a table that import reads, with a key column; - for standard input",
    );
  const adding = describeCommand(addMarkedRowsFlags(command), {
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
  adding.action(
    presents(context, { view: suppressedView }, async (typedKeys, flags) => {
      if (flags.keys !== undefined && typedKeys.length > 0) {
        throw usageError("--keys names all keys and cannot be used with others", "Leave out one of the two");
      }
      if (flags.keys === undefined) requireKeys(typedKeys, ecm`suppressions add KEY`);
      const reading = readMarkedRowsFlags(flags.keys, flags);
      const { keys, remarks, rejected } =
        flags.keys === undefined
          ? await readTypedKeys(context, typedKeys)
          : await readKeysFromFile(context, flags.keys, reading);
      const list = await openSuppressionList(context, { mayBeMissing: true });
      const { entries, added } = await list.add(keys, context.clock.now());
      terminal.note(formatAdded(added, entries.length - added));
      for (const line of [...remarks, ...rejected].slice(0, maxLinesShown)) terminal.note(line, "needed");
      if (rejected.length > 0) {
        terminal.note(
          `${formatKeyCount(rejected.length)} of the file not added: fix them and add the file again`,
          "needed",
        );
        context.endWith(exitCodes.rejectedRows);
      }
      return { many: entries };
    }),
  );
}

function formatAdded(added: number, alreadyListed: number): string {
  const more = `; ${formatKeyCount(alreadyListed)} ${alreadyListed === 1 ? "was" : "were"} already on it`;
  return `Added ${formatKeyCount(added)} to the suppression list${alreadyListed > 0 ? more : ""}`;
}

const maxLinesShown = 20;
