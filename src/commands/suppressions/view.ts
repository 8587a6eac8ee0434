import { usageError } from "../../errors.ts";
import { advise, type Hint } from "../../hint.ts";
import type { Suppressed } from "../../suppressions/suppressions.ts";
import type { View } from "../../terminal/present.ts";

export const suppressedView: View<Suppressed> = {
  columns: [
    { name: "hash", value: ({ hash }) => hash, isWhole: true },
    { name: "added", value: ({ addedAt }) => addedAt, isTime: true },
  ],
  id: ({ hash }) => hash,
};

/** Each account has a list of its own. */
export const withoutAccount = { 4: "no account is chosen" };

/** @throws UsageError for a key without content */
export function requireKeys(keys: string[], usage: Hint): void {
  if (keys.length > 0 && keys.every((key) => key.trim() !== "")) return;
  const message = keys.length === 0 ? "A key is missing" : "A key is empty";
  throw usageError(message, advise`Name at least one: ${usage}`);
}
