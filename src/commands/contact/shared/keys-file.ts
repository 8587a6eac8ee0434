/** A file that names contacts, for commands that only read: keys or ids, one on each line, or a CSV. */
import { resolve } from "node:path";
import { isId } from "../../../api/names.ts";
import type { Context } from "../../../context.ts";
import type { LocalCondition } from "../../../select/conditions.ts";
import type { ContactStructure } from "../../../wire.ts";
import { withInputFile } from "../../selection/input-file.ts";

/** What is asked of the service by its keys; where ids are among them, what is decided on its pages. */
export type KeysFileCondition = ({ keys: string[] } | { condition: LocalCondition }) & {
  /** Different keys and ids. */
  count: number;
};

/** How many lines that are neither keys nor ids are named. */
const maxRemarksShown = 5;

/** Before a request is spent. @throws UsageError for a file that cannot be read */
export async function requireKeysFile({ files }: Context, file: string): Promise<void> {
  if (file === "-") return;
  files.reads(file, "the input file");
  const { requireFile } = await import("../../../tables/index.ts");
  await requireFile({ path: resolve(file), name: file });
}

/** @throws UsageError for a file that cannot be read */
export async function readKeysFile(
  context: Context,
  file: string,
  structure: ContactStructure,
): Promise<KeysFileCondition> {
  const { requireUnderstood, readRows } = await import("../../../tables/index.ts");
  return withInputFile(context, file, async (input) => {
    const options = { map: new Map<string, string>(), takesIds: true };
    const understood = await requireUnderstood("keys", input, options, structure);
    return toKeysFileCondition(context, readRows(understood), input.name, structure);
  });
}

async function toKeysFileCondition(
  context: Context,
  rows: ReturnType<typeof import("../../../tables/index.ts").readRows>,
  name: string,
  structure: ContactStructure,
): Promise<KeysFileCondition> {
  const { createIdentityReader } = await import("../../../tables/index.ts");
  const keys = new Set<string>();
  const identities = new Set<string>();
  const wrong: string[] = [];
  let hasIds = false;
  for await (const row of rows) {
    if (row.kind === "rejected") {
      wrong.push(`${name}:${row.line}: ${row.message}`);
      continue;
    }
    if (row.keyFault) wrong.push(`${name}:${row.line}: ${row.keyFault.message}`);
    identities.add(row.key.identity);
    keys.add(row.key.written);
    hasIds ||= isId(row.key.written);
  }
  // What is no key of an import is said; it is looked for all the same, since the account may hold it.
  for (const line of wrong.slice(0, maxRemarksShown)) context.terminal.warn(line);
  if (wrong.length > maxRemarksShown)
    context.terminal.warn(`${wrong.length - maxRemarksShown} more lines like these`);
  const count = identities.size;
  if (!hasIds) return { keys: [...keys], count };
  const toIdentity = createIdentityReader(structure.keyType);
  return {
    count,
    condition: {
      needs: ["_id", "key"],
      holds: ({ _id = "", key = "" }) => identities.has(_id.toLowerCase()) || identities.has(toIdentity(key)),
    },
  };
}
