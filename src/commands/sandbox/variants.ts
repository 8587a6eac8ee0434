import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { describeCommand } from "../help/help-text.ts";

interface VariantRow {
  name: string;
  value: string;
  isDefault: boolean;
  means: string;
}

const view: View<VariantRow> = {
  columns: [
    { name: "variant", value: (row) => `${row.name}=${row.value}`, isWhole: true },
    { name: "default", value: (row) => (row.isDefault ? "yes" : "") },
    { name: "meaning", value: (row) => row.means },
  ],
  id: (row) => `${row.name}=${row.value}`,
};

export function registerSandboxVariants(parent: Command, context: Context): void {
  const command = parent
    .command("variants")
    .description("list what --variant can change")
    .action(() => runSandboxVariants(context));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm sandbox variants", "ecm sandbox variants --json"],
    output:
      "One line per value of each variant: what the service's documentation leaves open, and how the sandbox behaves.",
  });
}

async function runSandboxVariants(context: Context): Promise<void> {
  const { variantDescriptions } = await import("../../sandbox/variants.ts");
  const rows = variantDescriptions.flatMap(({ name, values }) =>
    values.map(({ value, means }, index) => ({ name, value, isDefault: index === 0, means })),
  );
  await presentList(context.terminal, context.output(), rows, view);
}
