/** Numbers and names as messages say them; data has plain digits. Pure. */

/**
 * `1,204`. Whole numbers are grouped here: the first call of `toLocaleString` takes as long as Node's start.
 */
export function formatCount(number: number): string {
  if (!Number.isSafeInteger(number)) return number.toLocaleString("en-US");
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** `1 row`, `1,204 rows`. */
export function formatCounted(number: number, one: string, several = `${one}s`): string {
  return `${formatCount(number)} ${number === 1 ? one : several}`;
}

export function sumCounts(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

/** A message from a fragment of one: it starts with a capital letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A message names all columns of any sensible file. */
export const maxNamesShown = 100;

/** A name in a message: in quotes, with what would break them escaped. */
export function quote(name: string): string {
  return JSON.stringify(name);
}

/** Names in a message. */
export function formatQuotedNames(names: readonly string[]): string {
  const shownNames = names.slice(0, maxNamesShown).map(quote);
  if (names.length > maxNamesShown) shownNames.push(`and ${names.length - maxNamesShown} more`);
  return shownNames.join(", ");
}
