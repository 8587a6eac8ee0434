/** Looks contacts up among the inactive ones, which an account may leave out of a plain search. */

import { createEquals } from "../../api/contacts.ts";
import { isRefusal } from "../../service/checked-search.ts";
import type { FoundByKeys } from "../../service/key-search.ts";
import { createIdentityReader } from "../../tables/keys.ts";
import type { Contact } from "../../wire.ts";
import type { Item } from "../items.ts";
import { splitIntoBlocks, toKeys } from "./block-keys.ts";
import type { Found, HiddenContact, LookupOptions } from "./found.ts";

export class HiddenSearch {
  private readonly options: LookupOptions;
  /** Parts of a contact that are asked for. */
  private readonly source: string[];
  private readonly readIdentity: (key: string) => string;

  constructor(options: LookupOptions, source: string[]) {
    this.options = options;
    this.source = source;
    this.readIdentity = createIdentityReader(options.keyType);
  }

  async findHidden(item: Item): Promise<Partial<Contact> | undefined> {
    return this.ofItem(item, (await this.findInactive([item.key.sent])).contacts);
  }

  /** Looks for those who were not found. Who cannot be looked for is not known to be absent. */
  async addHidden(items: readonly Item[], found: Map<number, Found>): Promise<void> {
    const { asksHidden, keys, behavior } = this.options;
    if (!asksHidden) return;
    const missing = items.filter(({ ref }) => !found.get(ref)?.contact && !found.get(ref)?.refused);
    for (const block of splitIntoBlocks(missing, keys)) {
      if (behavior.get("inactive") === "shown") return;
      await this.addHiddenInBlock(block, found);
    }
  }

  private async addHiddenInBlock(block: readonly Item[], found: Map<number, Found>): Promise<void> {
    const { keyType, behavior } = this.options;
    const { contacts, refused } = await this.findInactive(toKeys(block, keyType));
    if (contacts.length > 0) behavior.learn("inactive", "hidden");
    for (const item of block) {
      const contact = this.ofItem(item, contacts);
      const refusal = refused.get(item.key.written) ?? refused.get(item.key.sent);
      if (contact) {
        const hidden: HiddenContact = { ...contact, isHidden: true };
        found.set(item.ref, { contact: hidden });
      } else if (refusal) found.set(item.ref, { refused: refusal });
    }
  }

  /** Where such a search is not taken at all, each of the keys is refused. */
  private async findInactive(forms: string[]): Promise<FoundByKeys> {
    try {
      return await this.options.keys.find(forms, this.source, [createEquals("CONTACT_STATUS", ["inactive"])]);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return { contacts: [], refused: new Map(forms.map((form) => [form, error])) };
    }
  }

  private ofItem({ key }: Item, contacts: Partial<Contact>[]): Partial<Contact> | undefined {
    return contacts.find((each) => this.readIdentity(each.key ?? "") === key.identity);
  }
}
