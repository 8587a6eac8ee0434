/** How a file was read and what looks odd in its rows, in sentences. */
import { formatCount, formatCounted } from "../../counts.ts";
import { quoteShellWord } from "../../hint.ts";
import type { Note, RowsNote } from "../../tables/index.ts";

/** A message names all columns of any sensible file. */
const maxNamesShown = 100;

export function describeNote(note: Note): string {
  switch (note.code) {
    case "sheet":
      return `Read the sheet ${quote(note.sheet)} of a workbook`;
    case "hidden_rows":
      return `${formatCounted(note.count, "row is", "rows are")} hidden in the workbook; read like the others`;
    case "merged_ranges":
      return `${formatCounted(note.count, "merged range")} in the workbook: each of their cells is read with the value of the range`;
    case "counted_elements":
      return "Rows are counted as elements of the array, from 1";
    case "encoding":
      return describeEncoding(note);
    case "system":
      return `Read as ${note.system}`;
    case "system_without_consent":
      return `${note.system} says nothing about consent: make sure that these people agreed to receive email`;
    case "no_rows":
      return "The file has a header but no rows";
    default:
      return describeColumnNote(note);
  }
}

type NoteOf<Code extends Note["code"]> = Extract<Note, { code: Code }>;

function describeEncoding({ encoding, isGuess, firstForeign }: NoteOf<"encoding">): string {
  const how = isGuess ? " (detected; override with --encoding)" : "";
  const sample = firstForeign
    ? `; the first line that is not plain ASCII is line ${firstForeign.line}: ${firstForeign.text}`
    : "";
  return `Read as ${encoding}${how}${sample}`;
}

function describeColumnNote(
  note: Extract<Note, { column: string } | { columns: readonly string[] }>,
): string {
  switch (note.code) {
    case "system_columns":
      return `Ignored columns of ${note.system}: ${note.columns.join(", ")}`;
    case "unmapped":
      return `Ignored columns that do not match any field: ${formatNames(note.columns)}`;
    case "shared_field":
      return `${formatNames(note.columns)} all fill ${quote(note.field)}; the last non-blank value is used`;
    case "formula_texts":
      return `Cells such as ="01067" are read as the text inside: ${formatNames(note.columns)}`;
    case "consent_ignored":
      return `${quote(note.column)} looks like consent but is ignored, because of --map ${quoteShellWord(`${note.column}=ignore`)}`;
    case "consent_of_other_channel":
      return `${quote(note.column)} is about another channel than email; not read as consent`;
    case "consent_empty":
      return `${quote(note.column)} is empty in every row; not read as consent`;
    case "consent_is_field":
      return `${quote(note.column)} is a field of the account; not read as consent`;
  }
}

const maxDomainsNamed = 3;
const consequences = {
  unknown_value: ": the workbook has no value there; open it in a spreadsheet, correct the cells and save it",
  lost_zeros: " may have lost a leading zero: format the column as text where the file comes from",
  lost_digits: ": a spreadsheet has rounded the number; its digits are lost",
  perhaps_lost_digits: ": a spreadsheet keeps 15 digits of a number; the others may be lost",
  formatted_amount:
    ": a decimal point and thousands commas, whatever your spreadsheet shows; to have them as shown, save the sheet as CSV",
  odd_formula: "; imported as written, because the column's other cells are not numbers of this kind",
};
const doubt = " (if that is wrong, look for a stray quote there)";

/** Each with a place. */
export function describeRowsNote(note: RowsNote): string {
  const count = formatCount(note.count);
  switch (note.code) {
    case "tall_rows": {
      const lines = formatCount(note.lines);
      return note.count === 1
        ? `The row on line ${note.line} spans ${lines} lines${doubt}`
        : `${count} rows span several lines; the longest, on line ${note.line}, spans ${lines}${doubt}`;
    }
    case "misspelled": {
      const named = note.domains
        .slice(0, maxDomainsNamed)
        .map(({ domain, meant, line }) => `${domain} for ${meant} (line ${line})`);
      if (note.domains.length > maxDomainsNamed) named.push("…");
      return `${formatCounted(note.count, "address", "addresses")} may be misspelled: ${named.join(", ")}`;
    }
    case "role_addresses": {
      const such = `${note.key} (line ${note.line})`;
      return note.count === 1
        ? `1 address is of a role, not of a person: ${such}`
        : `${count} addresses are of a role, not of a person, such as ${such}`;
    }
    case "several_addresses": {
      const such = `line ${note.line}: ${note.key}`;
      return note.count === 1
        ? `1 row has several addresses; the first one is the key (${such})`
        : `${count} rows have several addresses; the first one is the key (such as ${such})`;
    }
    default:
      return `Column ${quote(note.column)}: ${formatCounted(note.count, "cell")} such as ${note.cell} (line ${note.line})${consequences[note.code]}`;
  }
}

function formatNames(names: readonly string[]): string {
  const shown = names.slice(0, maxNamesShown).map(quote);
  if (names.length > maxNamesShown) shown.push(`and ${names.length - maxNamesShown} more`);
  return shown.join(", ");
}

function quote(name: string): string {
  return JSON.stringify(name);
}
