import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { advise, ecm } from "../../hint.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { suppressedView, withoutAccount } from "./view.ts";

const empty = advise`No suppressed keys. Add one with: ${ecm`suppressions add KEY`}`;

export function registerSuppressionsList(parent: Command, context: Context): void {
  const command = addOutputFileFlags(parent.command("list")).description(
    "list the suppressed keys as keyed hashes; the list has no addresses",
  );
  verb(context, command, {
    isLocal: true,
    examples: ["ecm suppressions list", "ecm suppressions list --json"],
    output: "The hash of each key, and when it was added: { hash, addedAt }.",
    exitCodes: withoutAccount,
    view: suppressedView,
    async run() {
      const list = await openSuppressionList(context);
      return { many: list.list(), empty };
    },
  });
}
