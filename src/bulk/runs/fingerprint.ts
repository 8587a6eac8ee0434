/** What makes "the same command": a hash over everything that decides a contact's outcome. Pure. */
import { createHash } from "node:crypto";

/** The same for equal values, whatever the order of their members. */
export function computeFingerprint(value: unknown): string {
  return createHash("sha256").update(toCanonicalJson(value)).digest("hex");
}

function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${toCanonicalJson(member)}`);
  return `{${members.join(",")}}`;
}
