/** The statuses of contacts, as far as searches by a status alone tell them. Pure. */
import { type Members, readFilters, toArray, toIds, toMembers } from "./members.ts";

type Status = { primary: string; secondary?: string };

const unsubscribed: Status = { primary: "Inactive", secondary: "Unsubscribe" };

export class FoundStatuses {
  /** By the id of a contact. */
  private readonly found = new Map<string, string>();
  /** Of whom no search found; undefined where none tells. */
  unseen: Status | undefined;

  /** @param isChanged a step before may have changed the contact's status */
  read(body: Members, answer: unknown, isChanged: (id: string) => boolean): void {
    const [criteria, ...others] = readFilters(body).flat();
    const [value, ...more] = toArray(criteria?.values);
    const isByStatus = criteria?.columnToFilter === "CONTACT_STATUS" && others.length + more.length === 0;
    if (!isByStatus || typeof value !== "string") return;
    const status = value.toLowerCase();
    const { contacts, totalRecords } = toMembers(answer);
    const ids = toIds(contacts);
    // Everybody who is active is on this page.
    if (status === "active" && ids.length === totalRecords) this.unseen ??= unsubscribed;
    for (const id of ids) if (!this.found.has(id) && !isChanged(id)) this.found.set(id, status);
  }

  /** Undefined for the usual one. @param isChanged as above */
  get(id: string, isChanged: boolean): Status | undefined {
    const status = this.found.get(id);
    if (status === "inactive") return unsubscribed;
    return status === undefined && !isChanged ? this.unseen : undefined;
  }
}
