/** `plan_import`: an import of a file, or of rows that come with the call. */
import { quotedCsvLine } from "../../delimited-lines.ts";
import { UsageError } from "../../errors.ts";
import type { FileFolder } from "./files.ts";
import {
  type ConsentInput,
  consentInput,
  consentNames,
  type MapInput,
  toConsentFlags,
} from "./plan-inputs.ts";
import type { Completion, PlanTool } from "./plan-then-apply.ts";
import { maxRows } from "./tool.ts";

/** @param files undefined where no file may be read: then only rows are taken */
export function importTool(files: FileFolder | undefined): PlanTool {
  return {
    name: "plan_import",
    title: "Plan an import",
    description: `Creates and updates contacts from ${files ? "a file (CSV, Excel or JSON) or from rows" : "rows"}. Lists and tags are only added. Who is marked as not subscribed, or is suppressed, is left out.`,
    path: ["import"],
    offers: [
      ...["<file>", "--map", "--list", "--tag", "--create-missing", "--mode", "--blank"],
      ...["--ignore-unmapped", "--sheet"],
    ],
    own: { ...rowsInput, ...consentInput },
    ownNames: consentNames,
    complete: completeImport,
  };
}

const rowsInput = {
  rows: {
    type: "array",
    minItems: 1,
    maxItems: maxRows,
    items: { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } },
    description: "contacts as { column: value }, in place of a file; the first is line 2 of the plan",
  },
};

interface ImportInput extends ConsentInput, MapInput {
  file?: string;
  rows?: Record<string, string | number | boolean | null>[];
}

async function completeImport(input: ImportInput): Promise<Completion> {
  const { file, rows } = input;
  if ((file === undefined) === (rows === undefined)) {
    throw new UsageError("An import needs either file or rows", "Pass one of the two");
  }
  requireConsentKept(input);
  const flags = toConsentFlags(input);
  if (!rows) return { flags };
  requireExactNumbers(rows);
  return { flags: [...flags, "--delimiter=,", "--encoding=utf-8"], args: ["-"], stdin: formatCsv(rows) };
}

/**
 * Who left stays out, whatever a client was told: a column that says so cannot be put aside by it, or read
 * the other way round.
 * @throws UsageError
 */
function requireConsentKept({ map = {}, consent_column }: ImportInput): void {
  const ignored = Object.entries(map).find(([, target]) => target.trim().toLowerCase() === "ignore");
  if (ignored) {
    throw new UsageError(
      `map: a tool cannot put the column ${JSON.stringify(ignored[0])} aside`,
      "Leave out columns that match no field with ignore_unmapped; whoever owns the account can put others aside with ecm import",
    );
  }
  if (/=opt-(?:in|out)$/i.test(consent_column ?? "")) {
    throw new UsageError(
      "consent_column: a tool cannot say how the column is to be read",
      "Name the column alone; what a yes in it means goes into `consent`, once the user was asked",
    );
  }
}

/** Digits beyond what a JSON number holds were lost before they came here. @throws UsageError */
function requireExactNumbers(rows: NonNullable<ImportInput["rows"]>): void {
  for (const [index, row] of rows.entries()) {
    for (const [column, value] of Object.entries(row)) {
      if (typeof value !== "number" || Math.abs(value) <= Number.MAX_SAFE_INTEGER) continue;
      throw new UsageError(
        `rows[${index}]: the number in ${JSON.stringify(column)} has more digits than a JSON number keeps`,
        "Pass it as a string",
      );
    }
  }
}

function formatCsv(given: NonNullable<ImportInput["rows"]>): string {
  const rows = given.map((row) => new Map(Object.entries(row)));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const lines = [columns, ...rows.map((row) => columns.map((column) => row.get(column)))];
  return lines
    .map((cells) => `${quotedCsvLine(cells.map((quoteCell) => String(quoteCell ?? "")))}\n`)
    .join("");
}
