/** The flags that say which contacts are meant → the part of a search that says so. */
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import type { LocalCondition } from "../../service/conditions.ts";
import {
  bothOf,
  contactConditions,
  parseFilter,
  parseFilterJson,
  type WantedContacts,
} from "../../service/contact-filters.ts";
import type { ContactSearch } from "../../service/contact-search.ts";
import { updatedAfter } from "../../service/selection.ts";
import { parseStatus } from "../../service/status-words.ts";
import type { ContactStructure } from "../../wire.ts";
import { readKeysFile, requireKeysFile } from "./keys-file.ts";

export interface WantedConditions extends WantedContacts {
  filterJson?: string;
  /** A file that names contacts. */
  keys?: string;
  /** A condition in CEL, decided here. */
  where?: string;
  /** Milliseconds since the epoch. */
  updatedAfter?: number;
}

/** Says what is wrong with the flags at once; resolves names once there is an account to ask. */
export async function conditionsFrom(
  context: Context,
  wanted: WantedConditions,
): Promise<(account: Account, structure: ContactStructure) => Promise<Omit<ContactSearch, "source">>> {
  const where = await parsedWhere(wanted.where);
  const { keys: file } = wanted;
  if (file !== undefined && (wanted.key?.length ?? 0) > 0) {
    throw new UsageError(
      "--keys names every contact and cannot be used with other keys",
      "Leave out one of the two",
    );
  }
  if (file !== undefined) await requireKeysFile(file);
  filtersFrom(wanted);
  const since = wanted.updatedAfter === undefined ? undefined : updatedAfter(wanted.updatedAfter);
  return async (account, structure) => {
    const named = file === undefined ? undefined : await readKeysFile(context, file, structure);
    const key = named && "keys" in named ? named.keys : wanted.key;
    const search = await filtersFrom({ ...wanted, key })(account, structure);
    const conditions = [since, named && "condition" in named ? named.condition : undefined];
    if (named && "keys" in named && named.keys.length === 0) conditions.push(nobody);
    conditions.push(await where?.compile(account, structure));
    const keeps = conditions.reduce(bothOf, search.keeps);
    return keeps ? { ...search, keeps } : search;
  };
}

/** An empty file selects no contact; that differs from having no condition. */
const nobody: LocalCondition = { needs: [], wanted: "nobody", holds: () => false };

async function parsedWhere(text: string | undefined) {
  if (text === undefined) return undefined;
  const { parseWhere } = await import("../../service/where.ts");
  return parseWhere(text);
}

function filtersFrom(
  wanted: WantedConditions,
): (account: Account, structure: ContactStructure) => Promise<Omit<ContactSearch, "source">> {
  const specified = wanted.filterJson === undefined ? undefined : parseFilterJson(wanted.filterJson);
  if (specified && !Array.isArray(specified)) {
    refuseMixture(wanted);
    return async (_account, { _id }) => ({ structureId: _id, filters: [], specification: specified });
  }
  wanted.filter?.forEach(parseFilter);
  if (wanted.status !== undefined) parseStatus(wanted.status);
  return async (account, structure) => {
    const conditions = await contactConditions(account, structure, wanted, specified);
    return { structureId: structure._id, ...conditions };
  };
}

/** An object of `--filter-json` is the whole specification: other flags would be ignored silently. */
function refuseMixture({ key, status, list, tag, filter }: WantedConditions): void {
  if ([key, status, list, tag, filter].every((each) => each === undefined)) return;
  throw new UsageError(
    "--filter-json with an object is the whole specification and cannot be used with --key, --status, --list, --tag and --filter",
    "Pass an array of filters to combine them",
  );
}
