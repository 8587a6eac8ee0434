/** Reading: what is not clear about a file's columns: all of it at once, with the flags that settle it. */
import { foldName } from "../../api/names.ts";
import { formatCount, formatCounted, formatQuotedNames, maxNamesShown, quote } from "../../counts.ts";
import { type EcmError, usageError } from "../../errors.ts";
import { joinHints, quoteShellWord } from "../../hint.ts";
import type { UnclearConsent } from "../consent/columns.ts";
import { findConsentName } from "../consent/consent-names.ts";
import type { MappingInput } from "../table.ts";
import type { Proposal } from "./proposal.ts";

/** One thing that nobody has said, and that the file does not say by itself. */
interface Unclear {
  kind: "consent" | "key" | "unmapped";
  problem: string;
  /** The flags that settle it. */
  hint: string;
}

/** A file of which it is not clear where its columns go. */
export interface UnclearInput {
  /** `FILE:LINE` of the header. */
  place: string;
  /** Everything that is not clear; nothing where a person only wants to look at the columns. */
  unclear: readonly Unclear[];
  /** Where the columns could go. Reads the file once. */
  propose(): Promise<Proposal>;
}

/** The refusal of a file where nobody can be asked. */
export function toUnclearError({ place, unclear }: UnclearInput): EcmError {
  return usageError(
    `${place}: ${unclear.map(({ problem }) => problem).join("; ")}`,
    joinHints(...unclear.map(({ hint }) => hint)),
    unclear.some(({ kind }) => kind === "consent") ? { type: "ConsentError" } : {},
  );
}

/**
 * Columns that may be consent, of which nobody can tell what they say. What the readings mean is said of the
 * first one alone.
 */
export function describeConsent(
  { names, options }: MappingInput,
  columns: readonly UnclearConsent[],
): Unclear[] {
  return columns.map(({ index, unreadable, readings }, place) => {
    const column = names[index] || String(index + 1);
    const [optIn, optOut] = ["opt-in", "opt-out"].map((reading) =>
      flag("--consent-column", `${column}=${reading}`),
    );
    const ignore = flag("--map", `${column}=ignore`);
    const all = options.consentChoosesRows ? "; or take every row with --all-rows" : "";
    const hint =
      place > 0
        ? `The same for ${quote(column)}: ${optIn}, ${optOut}, or ${ignore}`
        : `Say how to read it: ${optIn} if a yes means subscribed, ${optOut} if a yes means not subscribed, or ignore it with ${ignore}${all}`;
    if (unreadable) {
      const { cell, line } = unreadable;
      const such = cell === undefined ? "" : `, such as ${quote(cell.slice(0, 40))} on line ${line}`;
      const problem = `${quote(column)} looks like consent, but none of its cells is a yes or a no${such}`;
      return { kind: "consent", problem, hint };
    }
    const leavesOut = `read as opt-in it leaves out ${formatCount(readings.optIn)} of ${formatCounted(readings.rows, "row")}, as opt-out ${formatCount(readings.optOut)}`;
    const problem = `${quote(column)} may say who is subscribed, but its name does not say which way round: ${leavesOut}`;
    return { kind: "consent", problem, hint };
  });
}

/**
 * @param named indexes of the columns whose names are those of keys
 * @param likely the one in which most cells hold an address
 */
export function describeKey(
  { names, structure, options }: MappingInput,
  named: readonly number[],
  likely: number | undefined,
): Unclear {
  const columns = named.map((index) => names[index]!);
  const first = (likely === undefined ? undefined : names[likely]) || columns[0] || "COLUMN";
  const which = `Say which one: ${flag("--map", `${first}=key`)}`;
  if (columns.length === 0) {
    const problem = `no key column (${structure.keyName}) found; columns: ${formatQuotedNames(names)}`;
    return { kind: "key", problem, hint: which };
  }
  const others = options.ignoreUnmapped ? "" : ", and map the others to a field or to ignore";
  const problem = `${columns.length} columns could be the key: ${formatQuotedNames(columns)}`;
  return { kind: "key", problem, hint: `${which}${others}` };
}

/** @param lost indexes of the columns that match no field */
export function describeUnmapped({ names }: MappingInput, lost: readonly number[]): Unclear[] {
  if (lost.length === 0) return [];
  const count = lost.length === 1 ? "1 column does" : `${lost.length} columns do`;
  const described = lost.slice(0, maxNamesShown).map((index) => {
    const name = names[index]!;
    if (foldName(name) === "") return `column ${index + 1}, which has no name`;
    return names.indexOf(name) < index ? `the second ${quote(name)} (column ${index + 1})` : quote(name);
  });
  if (lost.length > maxNamesShown) described.push(`and ${lost.length - maxNamesShown} more`);
  const problem = `${count} not match any field: ${described.join(", ")}`;
  return [{ kind: "unmapped", problem, hint: adviseOnUnmapped(lost.map((index) => names[index]!)) }];
}

function adviseOnUnmapped(names: readonly string[]): string {
  const named = names.filter((name) => foldName(name) !== "");
  const [example] = named;
  if (example === undefined) return "Give the column a name, or pass --ignore-unmapped";
  // Ignored for good, it would be ignored where it says that somebody has left, too.
  const consent = named.find((name) => ["status", "optIn"].includes(findConsentName(name) ?? ""));
  const mapConsent =
    consent === undefined
      ? ""
      : `If ${quote(consent)} says who is subscribed: ${flag("--map", `${consent}=consent`)}. `;
  return `${mapConsent}Map each with ${flag("--map", `${example}=FIELD`)} or ${flag("--map", `${example}=ignore`)}, or ignore them all with --ignore-unmapped`;
}

function flag(name: string, value: string): string {
  return `${name} ${quoteShellWord(value)}`;
}
