/** Looks contacts up among the inactive ones, which an account may leave out of a plain search. */
import { isRefusal } from "../../service/checked-search.ts";
import { equals } from "../../service/contacts.ts";
import type { FoundByKeys } from "../../service/key-search.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";
import { identityReader } from "../read/keys.ts";
import { blocksOf, keysOf } from "./block-keys.ts";
import type { Found, HiddenContact, LookupOptions } from "./found.ts";

export function createHiddenSearch(options: LookupOptions, source: string[]) {
  const { keys, keyType, behavior } = options;
  const identityOf = identityReader(keyType);

  /** Where such a search is not taken at all, each of the keys is refused. */
  async function findInactive(forms: string[]): Promise<FoundByKeys> {
    try {
      return await keys.find(forms, source, [equals("CONTACT_STATUS", ["inactive"])]);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { contacts: [], refused: new Map(forms.map((form) => [form, error])) };
    }
  }

  function ofItem({ key }: Item, contacts: Partial<Contact>[]): Partial<Contact> | undefined {
    return contacts.find((each) => identityOf(each.key ?? "") === key.identity);
  }

  return {
    async findHidden(item: Item): Promise<Partial<Contact> | undefined> {
      return ofItem(item, (await findInactive([item.key.sent])).contacts);
    },
    /** Looks for those who were not found. Who cannot be looked for is not known to be absent. */
    async tellHidden(items: readonly Item[], found: Map<number, Found>): Promise<void> {
      if (!options.asksHidden) return;
      const missing = items.filter(({ ref }) => !found.get(ref)?.contact && !found.get(ref)?.refused);
      for (const block of blocksOf(missing, keys)) {
        if (behavior.get("inactive") === "shown") return;
        const { contacts, refused } = await findInactive(keysOf(block, keyType));
        if (contacts.length > 0) behavior.learn("inactive", "hidden");
        for (const item of block) {
          const contact = ofItem(item, contacts);
          const refusal = refused.get(item.key.written) ?? refused.get(item.key.sent);
          if (contact)
            found.set(item.ref, { contact: { ...contact, isHidden: true } as HiddenContact, isKept: false });
          else if (refusal) found.set(item.ref, { isKept: false, refused: refusal });
        }
      }
    },
  };
}
