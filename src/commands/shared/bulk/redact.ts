/** A plan without the people in it. */
import { createHmac, randomBytes } from "node:crypto";
import type { PlanLine } from "../../../bulk/index.ts";

/**
 * Addresses become hashes with a key that nobody keeps: one contact can be
 * followed within an output, and not looked up.
 */
export function createPlanRedactor(): (line: PlanLine) => PlanLine {
  const secret = randomBytes(32);
  return ({ line, key, action, code, changes }) => ({
    line,
    key: `#${createHmac("sha256", secret).update(key).digest("hex").slice(0, 16)}`,
    contactId: null,
    action,
    code,
    message: null,
    changes: changes.map(({ what, name, before, after }) => ({
      what,
      name,
      before: redactText(before),
      after: redactText(after),
    })),
  });
}

/** That a value is emptied, or was empty, is told; no value is. */
function redactText<T>(value: T): T | string {
  return typeof value === "string" && value !== "" ? "…" : value;
}
