import type { Account } from "../../service/account.ts";
import type { View } from "../../terminal/present.ts";
import type { Contact } from "../../wire.ts";

/** How contacts look to people: labels and names in place of ids. */
export async function contactView(_account: Account): Promise<View<Partial<Contact>>> {
  return { columns: [{ name: "key", value: (contact) => contact.key }], id: (contact) => contact._id ?? "" };
}
