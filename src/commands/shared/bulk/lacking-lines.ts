/** Describes who would be created without a value for a required field. */
import type { RunEvent } from "../../../bulk/index.ts";
import { formatCount } from "../../../counts.ts";

export type LackingEvent = Extract<RunEvent, { kind: "lacking" }>;

/** The service's documents do not say whether it refuses them. */
export function formatLacking(event: LackingEvent | undefined): string[] {
  if (!event) return [];
  const { contacts, total } = event;
  const lines = [
    total === 1
      ? "1 new contact has no value for a required field; the service may refuse it:"
      : `${formatCount(total)} new contacts have no value for a required field; the service may refuse them:`,
  ];
  for (const { line, key, fields } of contacts) {
    const place = line === null ? "" : ` (line ${line})`;
    lines.push(`  ${key}${place}: ${fields.join(", ")}`);
  }
  if (total > contacts.length) lines.push(`  and ${formatCount(total - contacts.length)} more`);
  return lines;
}
