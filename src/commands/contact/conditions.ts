/** The flags that say which contacts are meant → the part of a search that says so. */
import { UsageError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import {
  contactConditions,
  parseFilter,
  parseFilterJson,
  type WantedContacts,
} from "../../service/contact-filters.ts";
import type { ContactSearch } from "../../service/contact-pages.ts";
import type { ContactStructure } from "../../wire.ts";

export interface WantedConditions extends WantedContacts {
  filterJson?: string;
}

/** Says what is wrong with the flags at once; resolves names once there is an account to ask. */
export function conditionsFrom(
  wanted: WantedConditions,
): (account: Account, structure: ContactStructure) => Promise<Omit<ContactSearch, "source">> {
  const specified = wanted.filterJson === undefined ? undefined : parseFilterJson(wanted.filterJson);
  if (specified && !Array.isArray(specified)) {
    refuseMixture(wanted);
    return async (_account, { _id }) => ({ structureId: _id, filters: [], specification: specified });
  }
  wanted.filter?.forEach(parseFilter);
  return async (account, structure) => {
    const conditions = await contactConditions(account, structure, wanted, specified);
    return { structureId: structure._id, ...conditions };
  };
}

/** An object of `--filter-json` is everything there is to say: a flag beside it would be passed over in silence. */
function refuseMixture({ key, status, list, tag, filter }: WantedConditions): void {
  if ([key, status, list, tag, filter].every((each) => each === undefined)) return;
  throw new UsageError(
    "--filter-json with an object is the whole specification: it goes without --key, --status, --list, --tag and --filter",
    "give an array of filters to combine them",
  );
}
