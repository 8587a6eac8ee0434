/** Reading: names of a file's columns, found by flags and told in messages. */
import { UsageError } from "../../errors.ts";
import { findNearestName, foldName } from "../names.ts";

/** Columns of this name: written so exactly, else without regard to case. */
export function findColumns(column: string, names: string[]): number[] {
  const exact = findIndexes(names, (name) => name === column);
  return exact.length > 0 ? exact : findIndexes(names, (name) => foldName(name) === foldName(column));
}

export function findIndexes(names: string[], holds: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (holds(name) ? [index] : []));
}

/** A flag names a column that does not exist; with the most similar name. */
export function unknownColumnError(column: string, names: string[], place: string, flag: string): UsageError {
  return new UsageError(
    `${place}: ${flag} names a column that does not exist: ${JSON.stringify(column)}`,
    suggestColumn(column, names),
  );
}

/** What to do where there is no column of a name. */
function suggestColumn(column: string, names: readonly string[]): string {
  const near = findNearestName(column, names);
  return near ? `Did you mean ${JSON.stringify(near)}?` : `Columns: ${formatQuotedNames(names)}`;
}

/** A message names all columns of any sensible file. */
export const maxNamesShown = 100;

/** Names in a message. */
export function formatQuotedNames(names: readonly string[]): string {
  const shownNames = names.slice(0, maxNamesShown).map((name) => JSON.stringify(name));
  if (names.length > maxNamesShown) shownNames.push(`and ${names.length - maxNamesShown} more`);
  return shownNames.join(", ");
}
