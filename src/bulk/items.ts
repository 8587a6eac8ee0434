/** The unit of a bulk run: one contact, and what it should become. */
import type { Contact } from "../wire.ts";
import type { Decision } from "./decide.ts";
import type { Outcome } from "./journal.ts";
import type { RowKey } from "./rows.ts";

export interface Item {
  /** Names the contact within the run and its journal: the line it stands on, or its place in a list of its own. */
  ref: number;
  key: RowKey;
}

/** What a command wants done, for each contact that it names. */
export interface Work<T extends Item = Item> {
  /** In a fixed order, the same each time the run is taken up again. */
  items(): AsyncIterable<T> | Iterable<T>;
  decide(item: T, found: Partial<Contact> | undefined): Decision;
  /** False for a contact that is decided without looking it up. Default: every one is looked up. */
  needsLookup?(item: T): boolean;
  /** What a change that was carried out counts as. Default: `updated`. */
  changed?: Outcome;
  /** What is to be said of a contact although it was written. */
  remark?(item: T): { code: string; message: string } | undefined;
}
