import type { Command } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../../context.ts";
import { advise, ecm } from "../../hint.ts";
import { presentList } from "../../terminal/present.ts";
import { formatForAccount } from "../shared/command-line.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { openSuppressionList } from "../shared/suppression-list.ts";
import { suppressedView } from "./shared/view.ts";

export function registerSuppressionsList(parent: Command, context: Context): void {
  const command = addOutputFileFlags(parent.command("list")).description(
    "list the suppressed keys as keyed hashes; the list has no addresses",
  );
  command.action((flags) => runSuppressionsList(context, flags));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm suppressions list", "ecm suppressions list --json"],
    output: "The hash of each key, and when it was added: { hash, addedAt }.",
  });
}

async function runSuppressionsList(context: Context, flags: OutputFileFlags): Promise<void> {
  const list = await openSuppressionList(context);
  const empty = formatForAccount(
    advise`No suppressed keys. Add one with: ${ecm`suppressions add KEY`}`,
    context.settings,
  );
  await presentList(context.terminal, context.output(flags), list.list(), { ...suppressedView, empty });
}
