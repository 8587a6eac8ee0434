/** Whether lists, tags and fields are still called what a plan calls them: what was agreed to had these names. */
import { UsageError } from "../../errors.ts";
import { parseWhere } from "../../select/where.ts";
import type { Account } from "../../service/account.ts";
import type { PlanHead } from "./plan-file.ts";
import type { PlanLine } from "./plan-line.ts";

interface PlanWithNames {
  head: Pick<PlanHead, "names" | "selection">;
  lines(): AsyncIterable<Partial<Pick<PlanLine, "changes">>>;
}

/** @throws UsageError that says both names, for each that the plan's changes or its conditions speak of */
export async function requireKeptNames({ head, lines }: PlanWithNames, account: Account): Promise<void> {
  const spoken = new Set<string>();
  for await (const { changes = [] } of lines())
    for (const { what, name } of changes) spoken.add(`${what} ${name}`);
  const isChosenBy = await readSelectionNames(head.selection);
  const structure = await account.structure();
  const current = {
    field: async () => structure.fields.map(({ _id, label }) => ({ _id, name: label })),
    list: async () => account.lists(structure),
    tag: async () =>
      ((await account.complete(structure)).tags ?? []).map(({ _id, label }) => ({ _id, name: label })),
  };
  const renamed: string[] = [];
  for (const what of ["field", "list", "tag"] as const) {
    const planned = Object.entries(head.names[`${what}s`] ?? {}).filter(
      ([id, name]) => spoken.has(`${what} ${name}`) || isChosenBy(what, id, name),
    );
    if (planned.length === 0) continue;
    const names = new Map((await current[what]()).map(({ _id, name }) => [_id, name]));
    for (const [id, name] of planned) {
      const now = names.get(id) ?? name;
      if (now !== name)
        renamed.push(`the ${what} ${JSON.stringify(name)} is called ${JSON.stringify(now)} now`);
    }
  }
  if (renamed.length === 0) return;
  throw new UsageError(
    `The plan was made with other names: ${renamed.join("; ")}`,
    "Nothing was written. Plan it again with the names of now, or give them their names back",
    { type: "PlanRefusedError" },
  );
}

/** Whether the conditions of a plan speak of a field, a list or a tag. */
async function readSelectionNames(
  selection: PlanHead["selection"],
): Promise<(what: "field" | "list" | "tag", id: string, name: string) => boolean> {
  if (!selection) return () => false;
  const ids = new Set([...selection.lists, ...selection.tags]);
  const where = selection.where === undefined ? undefined : await parseWhere(selection.where);
  return (what, id, name) => ids.has(id) || (where?.names(what, name) ?? false);
}
