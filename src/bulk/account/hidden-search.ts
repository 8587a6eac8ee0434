/** Looks contacts up among the inactive ones, which an account may leave out of a plain search. */
import { equals } from "../../service/contacts.ts";
import type { Contact } from "../../wire.ts";
import { identityReader } from "../input/keys.ts";
import type { Item } from "../items.ts";
import { blocksOf, keysOf } from "./block-keys.ts";
import type { Found, HiddenContact, LookupOptions } from "./lookup.ts";

export function createHiddenSearch(options: LookupOptions, source: string[]) {
  const { keys, keyType, behavior } = options;
  const identityOf = identityReader(keyType);

  async function findInactive(forms: string[]): Promise<Partial<Contact>[]> {
    return (await keys.find(forms, source, [equals("CONTACT_STATUS", ["inactive"])])).contacts;
  }

  function ofItem({ key }: Item, contacts: Partial<Contact>[]): Partial<Contact> | undefined {
    return contacts.find((each) => identityOf(each.key ?? "") === key.identity);
  }

  return {
    async findHidden(item: Item): Promise<Partial<Contact> | undefined> {
      return ofItem(item, await findInactive([item.key.sent]));
    },
    /** Looks for those who were not found. */
    async tellHidden(items: readonly Item[], found: Map<number, Found>): Promise<void> {
      if (!options.asksHidden) return;
      const missing = items.filter(({ ref }) => !found.get(ref)?.contact && !found.get(ref)?.refused);
      for (const block of blocksOf(missing, keys)) {
        if (behavior.get("inactive") === "shown") return;
        const contacts = await findInactive(keysOf(block, keyType));
        if (contacts.length > 0) behavior.learn("inactive", "hidden");
        for (const item of block) {
          const contact = ofItem(item, contacts);
          if (contact)
            found.set(item.ref, { contact: { ...contact, isHidden: true } as HiddenContact, isKept: false });
        }
      }
    },
  };
}
