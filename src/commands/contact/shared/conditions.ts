/** The flags that say which contacts are meant → the part of a search that says so. */
import type { Context } from "../../../context.ts";
import { formatCounted } from "../../../counts.ts";
import { usageError } from "../../../errors.ts";
import {
  combine,
  createTextCondition,
  createUpdatedAfter,
  type LocalCondition,
} from "../../../select/conditions.ts";
import {
  parseFilter,
  parseFilterJson,
  type RequestedContacts,
  resolveContactConditions,
} from "../../../select/contact-filters.ts";
import { parseStatus } from "../../../select/status-filter.ts";
import type { Account } from "../../../service/account.ts";
import type { ContactSearch } from "../../../service/contact-search.ts";
import type { ContactStructure } from "../../../wire.ts";
import { requireNoFile } from "../../selection/typed-keys.ts";
import { readKeysFile, requireKeysFile } from "./keys-file.ts";

export interface ConditionFlags extends RequestedContacts {
  filterJson?: string;
  /** A file that names contacts. */
  keys?: string;
  /** A condition in CEL, decided here. */
  where?: string;
  /** Words in the key or a field, decided here. */
  text?: string;
  /** Milliseconds since the epoch. */
  updatedAfter?: number;
}

export interface FoundConditions extends Omit<ContactSearch, "source"> {
  /** How many keys and ids the file of `--keys` has. */
  named?: number;
}

/** Says what is wrong with the flags at once; resolves names once there is an account to ask. */
export async function resolveConditions(
  context: Context,
  flags: ConditionFlags,
): Promise<(account: Account, structure: ContactStructure) => Promise<FoundConditions>> {
  const where = await parseWhereFlag(flags.where);
  const text = flags.text === undefined ? undefined : createTextCondition(flags.text);
  const { keys: file } = flags;
  if (file !== undefined && (flags.key?.length ?? 0) > 0) {
    throw usageError(
      "--keys names every contact and cannot be used with other keys",
      "Leave out one of the two",
    );
  }
  requireNoFile(flags.key ?? []);
  if (file !== undefined) await requireKeysFile(context, file);
  resolveFilters(flags);
  const since = flags.updatedAfter === undefined ? undefined : createUpdatedAfter(flags.updatedAfter);
  return async (account, structure) => {
    const keysFile = file === undefined ? undefined : await readKeysFile(context, file, structure);
    const key = keysFile && "keys" in keysFile ? keysFile.keys : flags.key;
    const search = await resolveFilters({ ...flags, key })(account, structure);
    const conditions = [since, text, keysFile && "condition" in keysFile ? keysFile.condition : undefined];
    if (keysFile && "keys" in keysFile && keysFile.keys.length === 0) conditions.push(nobody);
    conditions.push(await where?.compile(account, structure));
    const keeps = combine(search.keeps, ...conditions);
    return { ...search, ...(keeps && { keeps }), ...(keysFile && { named: keysFile.count }) };
  };
}

/** Behind a number of contacts: that not each key of the file found somebody. */
export function formatUnfound(count: number, named: number | undefined): string {
  return named === undefined || count >= named ? "" : `, for ${formatCounted(named, "key")} in the file`;
}

/** An empty file selects no contact; that differs from having no condition. */
const nobody: LocalCondition = { needs: [], holds: () => false };

async function parseWhereFlag(text: string | undefined) {
  if (text === undefined) return undefined;
  const { parseWhere } = await import("../../../select/where.ts");
  return parseWhere(text);
}

function resolveFilters(
  flags: ConditionFlags,
): (account: Account, structure: ContactStructure) => Promise<Omit<ContactSearch, "source">> {
  const specified = flags.filterJson === undefined ? undefined : parseFilterJson(flags.filterJson);
  if (specified && !Array.isArray(specified)) {
    requireNoMixture(flags);
    return async (_account, { _id }) => ({ structureId: _id, filters: [], specification: specified });
  }
  flags.filter?.forEach(parseFilter);
  if (flags.status !== undefined) parseStatus(flags.status);
  return async (account, structure) => {
    const conditions = await resolveContactConditions(account, structure, flags, specified);
    return { structureId: structure._id, ...conditions };
  };
}

/** An object of `--filter-json` is the whole specification: other flags would be ignored silently. */
function requireNoMixture({ key, status, list, tag, filter }: ConditionFlags): void {
  if ([key, status, list, tag, filter].every((each) => each === undefined)) return;
  throw usageError(
    "--filter-json with an object is the whole specification and cannot be used with --key, --status, --list, --tag and --filter",
    "Pass an array of filters to combine them",
  );
}
