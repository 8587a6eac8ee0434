import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { View } from "../../terminal/present.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents } from "../output/presents.ts";

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
  const command = parent.command("variants").description("list what --variant can change");
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm sandbox variants", "ecm sandbox variants --json"],
    output:
      "One line per value of each variant: what the service's documentation leaves open, and how the sandbox behaves.",
  });
  command.action(
    presents(context, { view }, async () => {
      const { describeVariant, variantNames } = await import("../../sandbox/variants.ts");
      const rows = variantNames.flatMap((name) =>
        describeVariant(name).map(({ value, means }, index) => ({
          name,
          value,
          isDefault: index === 0,
          means,
        })),
      );
      return { many: rows };
    }),
  );
}
