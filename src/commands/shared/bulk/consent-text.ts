/** What an input said of a person's consent, in words. */
import type { ConsentRead } from "../../../bulk/index.ts";

/** `Status: subscribed; overridden by --include-unsubscribed`. */
export function consentText({ columns, overriddenBy = [] }: ConsentRead): string {
  const said = columns.map(({ column, said }) => `${column}: ${said === "" ? "(empty)" : said}`);
  const parts = said.length > 0 ? said : ["no consent column"];
  return [...parts, ...overriddenBy.map((flag) => `overridden by ${flag}`)].join("; ");
}
