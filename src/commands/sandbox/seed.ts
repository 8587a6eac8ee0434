import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { SeedData, SeedReport } from "../../sandbox/public-types.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import { presentOne, type View } from "../../terminal/present.ts";
import { wholeNumber } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { type DataFlag, dataOption, withAdmin } from "./flags.ts";

interface SeedFlags extends DataFlag {
  contacts?: number;
}

const reportView: View<SeedReport> = {
  columns: [
    { name: "created", value: ({ contacts }) => contacts.created },
    { name: "updated", value: ({ contacts }) => contacts.updated },
  ],
  id: () => "",
};

export function registerSandboxSeed(parent: Command, context: Context): void {
  const command = parent
    .command("seed")
    .description("fill the sandbox with fields, tags, lists and contacts, by names")
    .argument(
      "[file]",
      "JSON: { fields, tags, lists, contacts: [{ key, fields, lists, tags, status }] }; - for standard input",
    )
    .addOption(
      wholeNumber("--contacts <n>", "create N contacts: person1@example.com, person2@example.com, …"),
    )
    .addOption(dataOption())
    .action((file: string | undefined, flags: SeedFlags) => runSandboxSeed(context, file, flags));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm sandbox seed fixtures.json", "ecm sandbox seed --contacts 1000 --json"],
    output:
      "How many contacts were created and updated. Missing fields, tags and lists are created; if anything is invalid, the error says where and nothing is applied.",
  });
}

async function runSandboxSeed(context: Context, file: string | undefined, flags: SeedFlags): Promise<void> {
  if ((file === undefined) === (flags.contacts === undefined)) {
    throw new UsageError("Name a file, or --contacts N", "Such as: ecm sandbox seed --contacts 1000");
  }
  const data =
    file === undefined
      ? { contacts: people(flags.contacts!) }
      : ((await readJsonInput(context.terminal, file, "FILE")).value as SeedData);
  const report = await withAdmin(context, flags, (admin) => admin.seed(data));
  await presentOne(context.terminal, context.output(), report, reportView);
}

function people(count: number): SeedData["contacts"] {
  return Array.from({ length: count }, (_, index) => ({
    key: `person${index + 1}@example.com`,
    fields: { "First Name": "Person", "Last Name": String(index + 1) },
  }));
}
