import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { failedError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import type { View } from "../../terminal/present.ts";
import { requireAddresses } from "../selection/keys.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { requireKeys, withoutAccount } from "./view.ts";

const view: View<{ key: string; suppressed: boolean }> = {
  columns: [
    { name: "key", value: ({ key }) => key, isWhole: true },
    { name: "suppressed", value: ({ suppressed }) => (suppressed ? "yes" : "no") },
  ],
  id: ({ key }) => key,
};

export function registerSuppressionsCheck(parent: Command, context: Context): void {
  const command = parent
    .command("check")
    .description("check whether keys are suppressed (exit 0 if all are, 1 if not)")
    .argument("<key...>", "contact keys, such as email addresses");
  verb(context, command, {
    isLocal: true,
    examples: ["ecm suppressions check ada@example.com"],
    output: "Each key and whether it is suppressed: { key, suppressed }.",
    exitCodes: {
      0: "all of them are suppressed",
      1: "not all are suppressed, or the list cannot be read",
      ...withoutAccount,
    },
    view,
    async run(keys) {
      requireKeys(keys, ecm`suppressions check KEY`);
      await requireAddresses(context, keys);
      const list = await openSuppressionList(context);
      const checked = keys.map((key) => ({ key, suppressed: list.has(key) }));
      const others = checked.filter(({ suppressed }) => !suppressed).length;
      const words = `${others} of ${formatCounted(keys.length, "key")} not suppressed`;
      const failure = others > 0 ? failedError(words, undefined, { type: "NotSuppressedError" }) : undefined;
      return { many: checked, failure };
    },
  });
}
