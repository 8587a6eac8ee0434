import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { notFoundError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { requireKeys, withoutAccount } from "./view.ts";

export function registerSuppressionsRemove(parent: Command, context: Context): void {
  const command = parent
    .command("remove")
    .description("remove keys from the suppression list, so that they can be created again")
    .argument("<key...>", "contact keys, such as email addresses");
  verb(context, command, {
    isLocal: true,
    asks: true,
    examples: ["ecm suppressions remove ada@example.com", "ecm suppressions remove ada@example.com --yes"],
    output: "Nothing; stderr says what was removed.",
    exitCodes: { 5: "none of the keys is suppressed", ...withoutAccount },
    async run(keys) {
      requireKeys(keys, ecm`suppressions remove KEY`);
      const list = await openSuppressionList(context);
      const listed = keys.filter((key) => list.has(key));
      if (listed.length === 0)
        throw notFoundError("None of the keys is suppressed", advise`See: ${ecm`suppressions list`}`);
      const count = formatCounted(listed.length, "key");
      await context.confirm(`Remove ${count} from the suppression list? Import can then create them again`);
      const removed = formatCounted(await list.remove(listed), "key");
      const others = keys.length - listed.length;
      const more = others > 0 ? `; ${formatCounted(others, "key")} not on it` : "";
      return { note: `Removed ${removed} from the suppression list${more}` };
    },
  });
}
