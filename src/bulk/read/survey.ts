/** The first pass over an input: everything is read and checked before anything is sent. */
import { stat } from "node:fs/promises";
import { type ConsentTally, createConsentTally } from "./consent-tally.ts";
import { createIdentityTally, type RepeatedIdentities } from "./identities.ts";
import { readRowBatches, type UnderstoodInput } from "./index.ts";
import { inputChangedError } from "./input-errors.ts";
import { createOddities } from "./oddities.ts";
import type { Mark, ReadRow, Row } from "./rows.ts";
import type { InputFile } from "./source.ts";

/** So many rows are kept in memory; more are read from the file again in each pass. */
const maxKeptRows = 5000;
/** How often a further pass looks whether the file is still the same, in rows. */
const rowsBetweenChecks = 2000;
export interface Survey {
  /** Rows of the file: sound ones and rejected ones. */
  read: number;
  /** Rows that are invalid by themselves. */
  rejected: number;
  rejectedCodes: Map<string, number>;
  /** Rows that look odd without being wrong, by code. */
  warnings: Map<string, number>;
  /** Names or ids as the cells have them. */
  lists: Set<string>;
  tags: Set<string>;
  /** What the file says of consent. */
  consent: ConsentTally;
  /** Identities that a rejected row, or another contact's, marks as not subscribed, and why. */
  markedElsewhere: ReadonlyMap<string, Mark>;
  repeated: RepeatedIdentities;
  /** The largest line on which a row starts. */
  lastLine: number;
  /** The last row, where it alone has no line end: nothing is wrong with it, but it may be cut off. */
  openRow?: Row;
  /** What looks odd in rows that are read all the same, in sentences. */
  notes: string[];
  /**
   * All rows again, in file order and in batches of any size.
   * @throws EcmError when the file has changed since the survey
   */
  batches(): AsyncIterable<readonly ReadRow[]>;
}

/** @throws UsageError when the file cannot be read to its end; the signal's reason */
export async function surveyInput(
  understood: UnderstoodInput,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<Survey> {
  const before = await stat(understood.file.path);
  const tally = createIdentityTally();
  const lists = new Set<string>();
  const tags = new Set<string>();
  const rejectedCodes = new Map<string, number>();
  const warnings = new Map<string, number>();
  const consent = createConsentTally(understood.reading.consent);
  const oddities = createOddities(understood.facts.columns, understood.reading.formulaColumns);
  const markedElsewhere = new Map<string, Mark>();
  const markAll = (identities: readonly string[], { notSubscribed, isMarkClear }: Mark) => {
    for (const identity of identities) {
      const existingMark = markedElsewhere.get(identity);
      markedElsewhere.set(identity, {
        notSubscribed: existingMark?.notSubscribed ?? notSubscribed,
        isMarkClear: isMarkClear || (existingMark?.isMarkClear ?? false),
      });
    }
  };
  let keptBatches: ReadRow[][] | undefined = [];
  let read = 0;
  let rejected = 0;
  let lastLine = 0;
  let openRow: Row | undefined;
  const takeRow = (row: ReadRow) => {
    lastLine = row.line;
    oddities.add(row);
    if (row.kind === "rejected") {
      rejected++;
      rejectedCodes.set(row.code, (rejectedCodes.get(row.code) ?? 0) + 1);
      if (row.mark) markAll(row.mark.identities, row.mark);
      consent.add(row.line, row.mark?.refusals);
      return;
    }
    if (row.isOpen) openRow = row;
    tally.add(row.key.identity);
    if (row.alsoNames && row.notSubscribed !== undefined) {
      markAll(row.alsoNames, { notSubscribed: row.notSubscribed, isMarkClear: row.isMarkClear ?? false });
    }
    consent.add(row.line, row.refusals);
    for (const name of row.lists) lists.add(name);
    for (const name of row.tags) tags.add(name);
    for (const code of row.warnings) warnings.set(code, (warnings.get(code) ?? 0) + 1);
  };
  for await (const rows of readRowBatches(understood)) {
    signal.throwIfAborted();
    onRows(read);
    read += rows.length;
    for (const row of rows) takeRow(row);
    if (keptBatches && read <= maxKeptRows) keptBatches.push(rows);
    else keptBatches = undefined;
  }
  const batches = keptBatches;

  async function* readAgain(): AsyncGenerator<ReadRow[]> {
    let unchecked = rowsBetweenChecks;
    for await (const rows of readRowBatches(understood)) {
      signal.throwIfAborted();
      if (unchecked >= rowsBetweenChecks) {
        await requireUnchanged(understood.file, before);
        unchecked = 0;
      }
      yield rows;
      unchecked += rows.length;
    }
  }

  return {
    read,
    rejected,
    rejectedCodes,
    warnings,
    lists,
    tags,
    consent,
    markedElsewhere,
    repeated: tally.repeated(),
    lastLine,
    openRow,
    notes: oddities.notes(),
    batches: () => (batches ? toAsync(batches) : readAgain()),
  };
}

async function* toAsync(batches: ReadRow[][]): AsyncGenerator<ReadRow[]> {
  yield* batches;
}

async function requireUnchanged(file: InputFile, before: { size: number; mtimeMs: number }): Promise<void> {
  const now = await stat(file.path).catch(() => undefined);
  if (now?.size === before.size && now.mtimeMs === before.mtimeMs) return;
  throw inputChangedError(file.name);
}
