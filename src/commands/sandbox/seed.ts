import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { SeedData, SeedReport } from "../../sandbox/public-types.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import type { View } from "../../terminal/present.ts";
import { wholeNumberOption } from "../flags/flags.ts";
import { declareLocal, localVerb } from "./shared.ts";

const reportView: View<SeedReport> = {
  columns: [
    { name: "created", value: ({ contacts }) => contacts.created },
    { name: "updated", value: ({ contacts }) => contacts.updated },
  ],
  id: () => "",
};

export function registerSandboxSeed(parent: Command, context: Context): void {
  const command = declareLocal(
    parent,
    "seed",
    "fill the sandbox by names: contacts and what belongs to them, campaigns, domains",
  )
    .argument(
      "[file]",
      "JSON: { fields, tags, lists, contacts: [{ key, fields, lists, tags, status }], campaigns: [{ name, report }], templates, domains, reports }; - for standard input",
    )
    .addOption(
      wholeNumberOption("--contacts <n>", "create N contacts: person1@example.com, person2@example.com, …"),
    );
  localVerb(context, command, {
    examples: ["ecm sandbox seed fixtures.json", "ecm sandbox seed --contacts 1000 --json"],
    output:
      "How many contacts were created and updated. Missing fields, tags and lists are created; if anything is invalid, the error says where and nothing is applied.",
    view: reportView,
    act: async (admin, file, { contacts }) => admin.seed(await readSeed(context, file, contacts)),
  });
}

async function readSeed(
  context: Context,
  file: string | undefined,
  count: number | undefined,
): Promise<SeedData> {
  if ((file === undefined) === (count === undefined)) {
    throw usageError(
      count !== undefined ? "A file cannot be used with --contacts" : "Nothing to fill the sandbox with",
      advise`Name a file, or make some up: ${ecm`sandbox seed --contacts 1000`}`,
    );
  }
  if (file === undefined) return { contacts: createPeople(count!) };
  return (await readJsonInput(context, file, "FILE")).value as SeedData;
}

function createPeople(count: number): SeedData["contacts"] {
  return Array.from({ length: count }, (_, index) => ({
    key: `person${index + 1}@example.com`,
    fields: { "First Name": "Person", "Last Name": String(index + 1) },
  }));
}
