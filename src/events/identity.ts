/** What makes two records of a feed one event. */
import { createHash } from "node:crypto";
import type { ContactEvent } from "../api/events.ts";

/** Members that name a thing: whoever renames the thing makes no new event. */
const names = new Set(["emailCampaignName", "emailSubject", "importOriginalFileName"]);

/** All members, in whatever order they come. Several events may share it: clicks in the same millisecond. */
export function toIdentity(event: ContactEvent): string {
  return hash(sortKeys(event));
}

/** What stays when an event's members change: its own id, else all members but the names of things. */
export function toLastingIdentity(event: ContactEvent): string {
  const { _id } = event;
  if (typeof _id === "string") return hash([_id]);
  return hash(sortKeys(Object.fromEntries(Object.entries(event).filter(([name]) => !names.has(name)))));
}

export function countIdentities(identities: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const identity of identities) counts.set(identity, (counts.get(identity) ?? 0) + 1);
  return counts;
}

/** Takes one of so many away. @returns whether there was one */
export function takeIdentity(counts: Map<string, number>, identity: string): boolean {
  const count = counts.get(identity) ?? 0;
  if (count > 0) counts.set(identity, count - 1);
  return count > 0;
}

function hash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 20);
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => [name, sortKeys(member)]);
}
