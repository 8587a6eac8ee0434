/** What the result of a search does not hold, and does not show by itself. */
import type { Context } from "../../../context.ts";
import { formatCount } from "../../../counts.ts";
import type { Behavior } from "../../../service/behavior.ts";
import { type ContactSearch, isLeftOut } from "../../../service/contact-search.ts";

/** A page that was cut short by a removal leaves somebody out, whoever decides the conditions. */
export function warnOfMissing(terminal: Context["terminal"], total: number, missing: number): void {
  if (missing === 0) return;
  terminal.warn(
    `${formatCount(total)} contacts matched at first and ${formatCount(total - missing)} were read: the account changed meanwhile`,
  );
}

/** Says what the service's searches do not tell, so that an empty cell is not taken for an answer. */
export function warnOfMissingParts(
  terminal: Context["terminal"],
  search: ContactSearch,
  behavior: Behavior,
  isAskedFor: boolean,
): void {
  const { source, readsStatus } = search;
  const form = behavior.get("source");
  if (isAskedFor && source.includes("updatedAt") && isLeftOut(form, "updatedAt"))
    terminal.warn("The service does not tell updatedAt: it is left out");
  if (!readsStatus && source.includes("contactStatus") && isLeftOut(form, "contactStatus")) {
    terminal.warn(
      "The service's searches do not tell the status; --columns key,status reads it, with a request for each contact",
    );
  }
}
