import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { View } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { verb } from "../verb.ts";

const view: View<Awaited<ReturnType<typeof listVariants>>[number]> = {
  columns: [
    { name: "variant", value: (row) => `${row.name}=${row.value}`, isWhole: true },
    { name: "default", value: (row) => (row.isDefault ? "yes" : "") },
    { name: "meaning", value: (row) => row.means },
  ],
  id: (row) => `${row.name}=${row.value}`,
};

export function registerSandboxVariants(parent: Command, context: Context): void {
  const command = parent.command("variants").description("list what --variant can change");
  verb(context, addOutputFileFlags(command), {
    isLocal: true,
    examples: ["ecm sandbox variants", "ecm sandbox variants --json"],
    output:
      "One line per value of each variant: what the service's documentation leaves open, and how the sandbox behaves.",
    view,
    async run() {
      return { many: await listVariants() };
    },
  });
}

async function listVariants() {
  const { describeVariant, variantNames } = await import("../../sandbox/variants.ts");
  return variantNames.flatMap((name) =>
    describeVariant(name).map(({ value, means }, index) => ({ name, value, isDefault: index === 0, means })),
  );
}
