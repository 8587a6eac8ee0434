import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { notFoundError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { describeCommand } from "../help/help-text.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { formatKeyCount, requireKeys } from "./view.ts";

export function registerSuppressionsRemove(parent: Command, context: Context): void {
  const command = parent
    .command("remove")
    .description("remove keys from the suppression list, so that they can be created again")
    .argument("<key...>", "contact keys, such as email addresses");
  describeCommand(command, {
    isLocal: true,
    asks: true,
    examples: ["ecm suppressions remove ada@example.com", "ecm suppressions remove ada@example.com --yes"],
    output: "Nothing; stderr says what was removed.",
    exitCodes: { 1: "declined, or the list cannot be read or written", 5: "none of the keys is suppressed" },
  });
  command.action((keys) => removeKeys(context, keys));
}

async function removeKeys(context: Context, keys: string[]): Promise<void> {
  requireKeys(keys, ecm`suppressions remove KEY`);
  const list = await openSuppressionList(context);
  const listedKeys = keys.filter((key) => list.has(key));
  if (listedKeys.length === 0) {
    throw notFoundError(
      keys.length === 1 ? "The key is not suppressed" : "None of the keys is suppressed",
      advise`See: ${ecm`suppressions list`}`,
    );
  }
  await context.confirm(
    `Remove ${formatKeyCount(listedKeys.length)} from the suppression list? ${listedKeys.length === 1 ? "It" : "They"} can then be created again`,
  );
  const removed = await list.remove(listedKeys);
  const others = keys.length - listedKeys.length;
  context.terminal.note(
    `Removed ${formatKeyCount(removed)} from the suppression list${others > 0 ? `; ${formatKeyCount(others)} ${others === 1 ? "was" : "were"} not on it` : ""}`,
  );
}
