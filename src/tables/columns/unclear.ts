/** Reading: what is not clear about a file's columns: all of it at once, with the flags that settle it. */
import { findNearestName, foldName } from "../../api/names.ts";
import { formatCount, formatCounted, formatQuotedNames, maxNamesShown } from "../../counts.ts";
import { type EcmError, usageError } from "../../errors.ts";
import { advise, ecm, joinHints, quoteShellWord, toOperands } from "../../hint.ts";
import type { FoundConsent, Readings } from "../consent/columns.ts";
import { findConsentName } from "../consent/names.ts";
import { unknownColumnError } from "../names.ts";
import type { Proposal } from "./proposal.ts";
import type { GoneColumns, MappingInput, UnknownField } from "./targets.ts";

/** A flag and its value, such as `--map` and `City=ignore`. */
type Flag = readonly [name: string, value?: string];

/** One thing that nobody has said, and that the file does not say by itself. */
export type Unclear =
  | {
      kind: "consent";
      /** By its name, or by its number where it has none. */
      column: string;
      /** It is consent, and none of its cells is an answer; such as this one. */
      unreadable?: { cell?: string; line?: number };
      readings: Readings;
      /** Any of these settles it. */
      settledBy: readonly Flag[];
    }
  | {
      kind: "key";
      /** Columns whose names are those of keys; none: no column's name is. */
      columns: readonly string[];
      keyName: string;
      /** Columns that match nothing are no matter. */
      ignoresOthers: boolean;
      settledBy: readonly Flag[];
    }
  | {
      kind: "unmapped";
      /** One for each column that matches no field. */
      columns: readonly { name: string; place: number; isRepeated: boolean; near?: string }[];
      settledBy: readonly Flag[];
    };

/** A file of which it is not clear where its columns go. */
export interface UnclearInput {
  /** `FILE:LINE` of the header. */
  place: string;
  names: readonly string[];
  /** All of it, in the order of the file; nothing where a person only wants to look at the columns. */
  unclear: readonly Unclear[];
  /** Where the columns could go. */
  proposal: Proposal;
}

/** A mapping that is not of this file or of this account. */
export type MappingFault = GoneColumns | UnknownField;

/** The refusal of a file where nobody can be asked. */
export function toUnclearError(found: UnclearInput | MappingFault): EcmError {
  if ("kind" in found) return found.kind === "field" ? toUnknownFieldError(found) : toGoneColumnsError(found);
  const { place, unclear } = found;
  const words = unclear.map((each) => describeUnclear(found, each));
  const said =
    words.length === 0 ? "the columns are to be looked at" : words.map(({ said }) => said).join("; ");
  const isConsent = unclear.some(({ kind }) => kind === "consent");
  return usageError(
    `${place}: ${said}`,
    joinHints(...words.map(({ hint }) => hint)),
    isConsent ? { type: "ConsentError" } : {},
  );
}

function toGoneColumnsError({ columns, names, place }: GoneColumns): EcmError {
  const [first, ...others] = columns;
  const { message, details } = unknownColumnError(first!.column, names, place, first!.line);
  const more = others.map(({ column, line }) => `; ${line}: ${quote(column)}`);
  const what = more.length > 0 ? "Correct these lines, or remove them" : "Correct the line, or remove it";
  return usageError(`${message}${more.join("")}`, joinHints(details.hint, what));
}

function toUnknownFieldError({ source, label, others, labels, near }: UnknownField): EcmError {
  const more = others.length === 0 ? "" : `; nor ${formatQuotedNames([...new Set(others)])}`;
  return usageError(
    `${source}: there is no field ${quote(label)}${more}`,
    near
      ? `Did you mean ${near.written}?`
      : advise`Fields: ${formatQuotedNames(labels)}. Add one with: ${ecm`structure field add ${toOperands(label)}`}`,
  );
}

/** @param found a column that may be consent, of which nobody can tell what it says */
export function toUnclearConsent({ names, options }: MappingInput, found: FoundConsent): Unclear {
  const { index, outcome, readings, unclear } = found;
  const column = names[index] || String(index + 1);
  return {
    kind: "consent",
    column,
    ...(outcome === "unreadable" && { unreadable: { ...unclear } }),
    readings,
    settledBy: [
      ["--consent-column", `${column}=opt-in`],
      ["--consent-column", `${column}=opt-out`],
      ["--map", `${column}=ignore`],
      ...(options.consentChoosesRows ? [["--all-rows"] as const] : []),
    ],
  };
}

/**
 * @param named indexes of the columns whose names are those of keys
 * @param likely the one in which most cells hold an address
 */
export function toUnclearKey(
  { names, structure, options }: MappingInput,
  { named, likely }: { named: readonly number[]; likely: number | undefined },
): Unclear {
  const columns = named.map((index) => names[index]!);
  const first = (likely === undefined ? undefined : names[likely]) || columns[0] || "COLUMN";
  return {
    kind: "key",
    columns,
    keyName: structure.keyName,
    ignoresOthers: options.ignoreUnmapped ?? false,
    settledBy: [["--map", `${first}=key`]],
  };
}

/** @param lost indexes of the columns that match no field */
export function toUnmapped({ names, structure }: MappingInput, lost: readonly number[]): Unclear {
  const labels = structure.fields.map((field) => field.label);
  const columns = lost.map((index) => {
    const name = names[index]!;
    const near = findNearestName(name, labels);
    return { name, place: index + 1, isRepeated: names.indexOf(name) < index, ...(near && { near }) };
  });
  const settledBy = columns
    .filter(({ name }) => foldName(name) !== "")
    .map(({ name }): Flag => ["--map", `${name}=ignore`]);
  return { kind: "unmapped", columns, settledBy: [...settledBy, ["--ignore-unmapped"]] };
}

function describeUnclear(
  { names, unclear: all }: UnclearInput,
  unclear: Unclear,
): { said: string; hint?: string } {
  switch (unclear.kind) {
    case "consent":
      return { said: describeConsent(unclear), hint: adviseOnConsent(all, unclear) };
    case "key":
      return describeKey(names, unclear);
    case "unmapped":
      return { said: describeUnmapped(names, all, unclear), hint: adviseOnUnmapped(unclear) };
  }
}

type Of<Kind extends Unclear["kind"]> = Extract<Unclear, { kind: Kind }>;

function describeConsent({ column, unreadable, readings }: Of<"consent">): string {
  if (unreadable) {
    const { cell, line } = unreadable;
    const such = cell === undefined ? "" : `, such as ${quote(cell.slice(0, 40))} on line ${line}`;
    return `${quote(column)} looks like consent, but none of its cells is a yes or a no${such}`;
  }
  return `${quote(column)} may say who is subscribed, but its name does not say which way round: ${describeReadings(readings)}`;
}

/** What each reading would do, in words. */
function describeReadings({ rows, optIn, optOut }: Readings): string {
  return `read as opt-in it leaves out ${formatCount(optIn)} of ${formatCounted(rows, "row")}, as opt-out ${formatCount(optOut)}`;
}

/** What the readings mean is said of the first column alone. */
function adviseOnConsent(all: readonly Unclear[], { settledBy, column }: Of<"consent">): string {
  const [optIn, optOut, ignore, everyRow] = settledBy.map(formatFlag);
  const isFirst = all.find(({ kind }) => kind === "consent")?.settledBy === settledBy;
  if (!isFirst) return `The same for ${quote(column)}: ${optIn}, ${optOut}, or ${ignore}`;
  const others = everyRow === undefined ? "" : `; or take every row with ${everyRow}`;
  return `Say how to read it: ${optIn} if a yes means subscribed, ${optOut} if a yes means not subscribed, or ignore it with ${ignore}${others}`;
}

function describeKey(
  names: readonly string[],
  { columns, keyName, ignoresOthers, settledBy }: Of<"key">,
): { said: string; hint: string } {
  const which = `Say which one: ${settledBy.map(formatFlag).join(", ")}`;
  if (columns.length === 0) {
    const said = `no key column (${keyName}) found; columns: ${formatQuotedNames(names)}`;
    return { said, hint: which };
  }
  const others = ignoresOthers ? "" : ", and map the others to a field or to ignore";
  return {
    said: `${columns.length} columns could be the key: ${formatQuotedNames(columns)}`,
    hint: `${which}${others}`,
  };
}

function describeUnmapped(
  names: readonly string[],
  all: readonly Unclear[],
  { columns }: Of<"unmapped">,
): string {
  const isListed = all.some((each) => each.kind === "key" && each.columns.length === 0);
  if (isListed && columns.length === names.length) return "none of them matches a field";
  const described = columns.slice(0, maxNamesShown).map(({ name, place, isRepeated, near }) => {
    if (foldName(name) === "") return `column ${place}, which has no name`;
    if (isRepeated) return `the second ${quote(name)} (column ${place})`;
    return near ? `${quote(name)} (like the field ${quote(near)}?)` : quote(name);
  });
  if (columns.length > maxNamesShown) described.push(`and ${columns.length - maxNamesShown} more`);
  const count = columns.length === 1 ? "1 column does" : `${columns.length} columns do`;
  return `${count} not match any field: ${described.join(", ")}`;
}

function adviseOnUnmapped({ columns }: Of<"unmapped">): string {
  const named = columns.map(({ name }) => name).filter((name) => foldName(name) !== "");
  const [example] = named;
  if (example === undefined) return "Give the column a name, or pass --ignore-unmapped";
  // Ignored for good, it would be ignored where it says that somebody has left, too.
  const consent = named.find((name) => ["status", "optIn"].includes(findConsentName(name) ?? ""));
  const mapConsent =
    consent &&
    `If ${quote(consent)} says who is subscribed: ${formatFlag(["--map", `${consent}=consent`])}. `;
  return `${mapConsent ?? ""}Map each with ${formatFlag(["--map", `${example}=FIELD`])} or ${formatFlag(["--map", `${example}=ignore`])}, or ignore them all with --ignore-unmapped`;
}

function formatFlag([name, value]: Flag): string {
  return value === undefined ? name : `${name} ${quoteShellWord(value)}`;
}

function quote(name: string): string {
  return JSON.stringify(name);
}
