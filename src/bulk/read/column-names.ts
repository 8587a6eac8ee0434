/** Reading: names of a file's columns, found by flags and told in messages. */
import { UsageError } from "../../errors.ts";
import { foldName, nearestName } from "./names.ts";

/** Columns of this name: written so exactly, else without regard to case. */
export function columnsNamed(column: string, names: string[]): number[] {
  const exact = indexesWhere(names, (name) => name === column);
  return exact.length > 0 ? exact : indexesWhere(names, (name) => foldName(name) === foldName(column));
}

export function indexesWhere(names: string[], holds: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (holds(name) ? [index] : []));
}

/** A flag names a column that does not exist; with the most similar name. */
export function unknownColumn(column: string, names: string[], place: string, flag: string): UsageError {
  const near = nearestName(column, names);
  return new UsageError(
    `${place}: ${flag} names a column that does not exist: ${JSON.stringify(column)}`,
    near ? `Did you mean ${JSON.stringify(near)}?` : `Columns: ${quoted(names)}`,
  );
}

/** A message names all columns of any sensible file. */
export const namesShown = 100;

/** Names in a message. */
export function quoted(names: readonly string[]): string {
  const shown = names.slice(0, namesShown).map((name) => JSON.stringify(name));
  if (names.length > namesShown) shown.push(`and ${names.length - namesShown} more`);
  return shown.join(", ");
}
