import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { SeedData, SeedReport } from "../../sandbox/public-types.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import type { View } from "../../terminal/present.ts";
import { wholeNumberOption } from "../flags/flags.ts";
import { presents, type Result } from "../output/presents.ts";
import { addLocalVerb, type DataFlag, withAdmin } from "./shared.ts";

const reportView: View<SeedReport> = {
  columns: [
    { name: "created", value: ({ contacts }) => contacts.created },
    { name: "updated", value: ({ contacts }) => contacts.updated },
  ],
  id: () => "",
};

export function registerSandboxSeed(parent: Command, context: Context): void {
  addLocalVerb(parent, {
    name: "seed",
    description: "fill the sandbox by names: contacts and what belongs to them, campaigns, domains",
    examples: ["ecm sandbox seed fixtures.json", "ecm sandbox seed --contacts 1000 --json"],
    output:
      "How many contacts were created and updated. Missing fields, tags and lists are created; if anything is invalid, the error says where and nothing is applied.",
  })
    .argument(
      "[file]",
      "JSON: { fields, tags, lists, contacts: [{ key, fields, lists, tags, status }], campaigns: [{ name, report }], templates, domains, reports }; - for standard input",
    )
    .addOption(
      wholeNumberOption("--contacts <n>", "create N contacts: person1@example.com, person2@example.com, …"),
    )
    .action(presents(context, { view: reportView }, (file, flags) => seedSandbox(context, file, flags)));
}

async function seedSandbox(
  context: Context,
  file: string | undefined,
  flags: DataFlag & { contacts?: number },
): Promise<Result<SeedReport>> {
  if ((file === undefined) === (flags.contacts === undefined)) {
    throw usageError(
      flags.contacts !== undefined
        ? "A file cannot be used with --contacts"
        : "Nothing to fill the sandbox with",
      advise`Name a file, or make some up: ${ecm`sandbox seed --contacts 1000`}`,
    );
  }
  const given =
    file === undefined ? undefined : ((await readJsonInput(context, file, "FILE")).value as SeedData);
  const wanted = given ?? { contacts: createPeople(flags.contacts!) };
  return { one: await withAdmin(context, flags, (admin) => admin.seed(wanted)) };
}

function createPeople(count: number): SeedData["contacts"] {
  return Array.from({ length: count }, (_, index) => ({
    key: `person${index + 1}@example.com`,
    fields: { "First Name": "Person", "Last Name": String(index + 1) },
  }));
}
