/** What a row says of its contact's consent, kept with the contact that it creates. Pure. */
import type { ConsentRead } from "../items.ts";
import type { RowRun } from "./prepare.ts";

/**
 * @param row with the marks of all rows of its contact
 * @param isOverridden the contact may be created although its row says not subscribed
 */
export function findConsent(
  { understood: { reading, facts } }: Pick<RowRun, "understood">,
  { line, cells }: { line: number; cells: readonly (string | undefined)[] },
  isOverridden: boolean,
): ConsentRead {
  const columns = reading.consent.map(({ index, name }) => ({
    column: name,
    said: (cells[index] ?? "").trim(),
  }));
  const flags = [...(reading.consentAside ?? []), ...(isOverridden ? ["--include-unsubscribed"] : [])];
  return {
    columns,
    ...(flags.length > 0 && { overriddenBy: flags }),
    input: `sha256:${facts.sha256}`,
    line,
  };
}
