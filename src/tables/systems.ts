/** Reading: which system wrote a file, and what its rules say of a column. */
import { findNearestName, toLooseName } from "../api/names.ts";
import { usageError } from "../errors.ts";
import type { ConsentRule } from "./consent/cells.ts";
import { type System, systems } from "./system-table.ts";

/** The system whose export has these columns. */
export function recogniseSystem(names: readonly string[]): System | undefined {
  const there = new Set(names.map(toLooseName));
  return systems.find((system) => fitsSystem(system, there));
}

function fitsSystem({ all, any }: System, there: ReadonlySet<string>): boolean {
  const isThere = (name: string) => there.has(toLooseName(name));
  return all.every(isThere) && (any === undefined || any.some(isThere));
}

/** The system that `--from` names, else the one that is recognised by the header. @throws UsageError */
export function chooseSystem(
  names: readonly string[],
  from: string | undefined,
  hasHeader: boolean,
): System | undefined {
  if (from !== undefined) return findSystem(from, names);
  return hasHeader ? recogniseSystem(names) : undefined;
}

/**
 * The system that `--from` names, in the variant that fits the columns best.
 * @throws UsageError for a name that is not in the table
 */
function findSystem(name: string, names: readonly string[]): System {
  const systemName = name.trim().toLowerCase();
  const variants = systems.filter((system) => system.name === systemName);
  const there = new Set(names.map(toLooseName));
  const chosen = variants.find((system) => fitsSystem(system, there)) ?? variants.at(-1);
  if (chosen) return chosen;
  const allNames = listSystemNames();
  const near = findNearestName(name, allNames);
  throw usageError(
    `--from ${JSON.stringify(name)} is not a known system`,
    near ? `Did you mean ${near}?` : `Known: ${allNames.join(", ")}`,
  );
}

export function listSystemNames(): string[] {
  return [...new Set(systems.map((system) => system.name))];
}

/** Whether a system keeps a column of this name for itself. */
export function isIgnoredColumn(system: System, name: string): boolean {
  const loose = toLooseName(name);
  return (
    (system.ignored?.some((each) => toLooseName(each) === loose) ?? false) ||
    (system.ignoredPattern?.test(loose) ?? false)
  );
}

/** How a column of this name is read by the system's own rule. */
export function findSystemRule({ consent = [] }: System, name: string): ConsentRule | undefined {
  const matchesColumn = (column: string | RegExp) =>
    typeof column === "string" ? isColumn(name, column) : column.test(name.trim());
  return consent.find(({ column }) => matchesColumn(column))?.rule;
}

const ourColumns = ["lists", "tags", "status", "createdAt"];

/** An export of ours with all of its columns: with fewer, the names are too common to be ours for sure. */
export function isFullExport(names: readonly string[]): boolean {
  const isThere = (column: string) => names.includes(column) || names.includes(`ecm:${column}`);
  return isThere("key") && ourColumns.every(isThere);
}

export function isColumn(name: string, column: string | undefined): boolean {
  return column !== undefined && toLooseName(name) === toLooseName(column);
}
