/** A plan without the people in it. */
import { createHmac, randomBytes } from "node:crypto";
import type { PlanLine } from "../../../bulk/index.ts";

/**
 * Addresses become hashes with a key that nobody keeps: one contact can be
 * followed within an output, and not looked up.
 */
export function createPlanRedactor(): (line: PlanLine) => PlanLine {
  const secret = randomBytes(32);
  const toHash = (key: string) => `#${createHmac("sha256", secret).update(key).digest("hex").slice(0, 16)}`;
  return ({ line, key, action, code, changes }) => ({
    line,
    key: toHash(key),
    contactId: null,
    action,
    code,
    message: null,
    changes: changes.map(({ what, name, before, after }) => ({
      what,
      name: hideAddresses(name),
      before: redactText(before),
      after: redactText(after),
    })),
  });
}

/** Lists, tags and what a service says may be named after people. */
export function hideAddresses(text: string): string {
  return text.replace(/[^\s<>"'`,;:()[\]{}|]+@[^\s<>"'`,;:()[\]{}|]+/gu, "…");
}

/** That a value is emptied, or was empty, is told; no value is. */
function redactText<T>(value: T): T | string {
  return typeof value === "string" && value !== "" ? "…" : value;
}
