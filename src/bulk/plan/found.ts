/** What a look-up is given, and what it tells of a contact. */
import type { ServiceError } from "../../errors.ts";
import type { Behavior } from "../../service/behavior.ts";
import type { KeySearch } from "../../service/key-search.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import type { AccountSnapshot } from "./snapshot.ts";

export interface Found {
  contact?: Partial<Contact>;
  /** Read earlier and kept: others may have changed it meanwhile. */
  isRemembered?: true;
  /** Read by its id: as it is, with its version. */
  isById?: boolean;
  /** The service refuses to look this key up. */
  refused?: ServiceError;
  /** Another item names the same contact: one by its key, the other by its id. */
  isRepeated?: boolean;
}

export interface LookupOptions {
  send: PacedSend;
  keys: KeySearch;
  structureId: string;
  keyType: string;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  snapshot?: AccountSnapshot;
  /** Who is not in the snapshot does not exist: it is of the whole account. */
  isAbsentOutside?: boolean;
  behavior: Behavior;
  /** Contacts are named by keys and by ids: one that is named by both is marked as repeated. */
  marksRepeats?: boolean;
  /** Lists whose members matter, for a service whose searches do not tell a contact's lists. */
  listIds?: readonly string[];
  /** Whether the contact is known to be gone: a search may still show it for a while. */
  isGone?(item: Item, contact: Partial<Contact>): boolean;
}
