/** What a search is to find, once names are ids: what the service decides, and what is decided here. */
import type { Contact, Filter } from "../wire.ts";

/**
 * A condition that no search of the service can express: it is
 * held against each contact that the service finds.
 */
export interface LocalCondition {
  /** The parts of a contact that it reads, as a search's `source` names them. */
  needs: readonly string[];
  holds(contact: Partial<Contact>): boolean;
  /** What it asks for, to tell two searches apart. */
  wanted: unknown;
  /** Ids of the fields that it names. */
  fields?: readonly string[];
}

export interface SeveralKeys {
  values: string[];
  /** Keys of e-mail are one in every letter case. */
  areEmails: boolean;
}

export interface Conditions {
  filters: Filter[];
  /**
   * Any of these keys, besides the filters: how several are asked for has to be found out (`key-search.ts`).
   */
  keys?: SeveralKeys;
  keeps?: LocalCondition;
}
