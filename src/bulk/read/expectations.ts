/** Reading: whether a file is as its mapping expects, before anything is sent. */
import { formatCount, formatCounted } from "../../counts.ts";
import { UsageError } from "../../errors.ts";
import { TextIndex } from "../../text-index.ts";
import { suggestColumn } from "./columns/column-names.ts";
import { type MadeColumn, madeColumns, toText } from "./columns/made-columns.ts";
import type { CompiledEntry } from "./compute/compile.ts";
import type { ColumnExpectation, Expectations } from "./compute/entry.ts";
import type { Computed } from "./compute/expression.ts";
import { createPattern } from "./compute/pattern.ts";
import type { OpenedInput } from "./formats/open.ts";
import { createIdentityReader } from "./keys.ts";
import { foldName } from "./names.ts";
import { readRowBatches } from "./read-rows.ts";
import type { Reading } from "./reading.ts";
import type { ReadRow } from "./rows.ts";
import { quote } from "./values.ts";

type Batches = () => AsyncIterable<readonly Pick<ReadRow, "line" | "cells">[]>;

/** @throws UsageError with all that is not as expected; what only warns is kept in `opened.warnings` */
export async function requireExpectations(
  opened: OpenedInput,
  expect: Expectations,
  reading: Reading,
  entries: readonly CompiledEntry[],
): Promise<void> {
  const columns = madeColumns(reading, entries, reading.table.names);
  const batches = () => readRowBatches({ reading });
  const { failures, warnings } = await unmetExpectations(expect, columns, batches);
  opened.isAsExpected = true;
  opened.warnings.push(...warnings);
  if (failures.length === 0) return;
  const many = failures.length === 1 ? "1 expectation is" : `${failures.length} expectations are`;
  throw new UsageError(
    `${opened.file.name}: ${many} not met: ${failures.join("; ")}`,
    `Nothing was sent. Correct the file, or change expect: in ${expect.file} (warn: true only warns)`,
    { type: "ExpectationError" },
  );
}

/** @throws UsageError for a column that does not exist */
async function unmetExpectations(
  expect: Expectations,
  columns: readonly MadeColumn[],
  batches: Batches,
): Promise<{ failures: string[]; warnings: string[] }> {
  const checks = expect.columns.map((each) => {
    const matches = each.matches === undefined ? undefined : createPattern(each.matches);
    return new ColumnCheck(each, columnNamed(each, columns), matches);
  });
  let rows = 0;
  for await (const batch of batches()) {
    rows += batch.length;
    for (const row of batch) for (const check of checks) check.add(row);
  }
  await findRepeated(checks, batches);
  const unmet = checks.map((check) => ({ isWarning: check.expected.warn, lines: check.unmet(rows) }));
  unmet.push({ isWarning: expect.rows?.warn, lines: unmetRows(expect.rows, rows) });
  return {
    failures: unmet.flatMap(({ isWarning, lines }) => (isWarning ? [] : lines)),
    warnings: unmet.flatMap(({ isWarning, lines }) => (isWarning ? lines : [])),
  };
}

function unmetRows(
  { min = 0, max = Number.POSITIVE_INFINITY }: Expectations["rows"] = {},
  rows: number,
): string[] {
  const found = `the file has ${formatCounted(rows, "row")}`;
  if (rows < min) return [`${found}, expected at least ${formatCount(min)}`];
  return rows > max ? [`${found}, expected at most ${formatCount(max)}`] : [];
}

/** Looks for the values that stand twice, where any may: the rows are read once more for that alone. */
async function findRepeated(checks: readonly ColumnCheck[], batches: Batches): Promise<void> {
  const open = checks.filter((check) => check.mayRepeat());
  if (open.length === 0) return;
  for await (const batch of batches()) {
    for (const row of batch) for (const check of open) check.addAgain(row);
  }
}

const readIdentity = createIdentityReader("email");

/** An address in another spelling is the same one: its rows are one contact. */
function toCompared(text: string): string {
  return text.includes("@") ? readIdentity(text) : text;
}

class Offenders {
  count = 0;
  readonly lines: number[] = [];
  first = "";

  add(line: number, text = ""): void {
    this.count += 1;
    if (this.count === 1) this.first = text;
    if (this.lines.length < shownLines) this.lines.push(line);
  }

  /** ` (lines 3, 7 and 12 more)` */
  place(): string {
    const more = this.count - this.lines.length;
    const lines = `${this.count === 1 ? "line" : "lines"} ${this.lines.join(", ")}`;
    return ` (${lines}${more > 0 ? ` and ${formatCount(more)} more` : ""})`;
  }
}

const shownLines = 5;

class ColumnCheck {
  readonly expected: ColumnExpectation;
  readonly #column: MadeColumn;
  readonly #matches: ((text: string) => boolean) | undefined;
  readonly #allowed: ReadonlySet<string> | undefined;
  readonly #seen: TextIndex | undefined;
  readonly #linesByValue = new Map<string, number>();
  readonly #blank = new Offenders();
  readonly #foreign = new Offenders();
  readonly #unlike = new Offenders();
  readonly #twice = new Offenders();

  constructor(
    expected: ColumnExpectation,
    column: MadeColumn,
    matches: ((text: string) => boolean) | undefined,
  ) {
    this.expected = expected;
    this.#column = column;
    this.#matches = matches;
    this.#allowed = expected.values && new Set(expected.values);
    this.#seen = expected.unique ? new TextIndex() : undefined;
  }

  add({ line, cells }: Pick<ReadRow, "line" | "cells">): void {
    const value = this.#valueIn(cells);
    const text = toText(value);
    if (text === "") {
      this.#blank.add(line);
      return;
    }
    this.#seen?.add(toCompared(text));
    for (const part of typeof value === "object" ? value : [text]) {
      if (this.#allowed && !this.#allowed.has(part)) this.#foreign.add(line, part);
      if (this.#matches && !this.#isLike(part)) this.#unlike.add(line, part);
    }
  }

  mayRepeat(): boolean {
    return this.#seen?.hasRepeated ?? false;
  }

  addAgain({ line, cells }: Pick<ReadRow, "line" | "cells">): void {
    const text = toText(this.#valueIn(cells));
    const compared = toCompared(text);
    if (text === "" || !this.#seen?.isRepeated(compared)) return;
    const known = this.#linesByValue.get(compared);
    if (known === undefined) this.#linesByValue.set(compared, line);
    else this.#twice.add(line, text);
  }

  /** @param rows of the file */
  unmet(rows: number): string[] {
    const name = JSON.stringify(this.#column.name);
    const { filled, matches } = this.expected;
    const [blank, twice, foreign, unlike] = [this.#blank, this.#twice, this.#foreign, this.#unlike];
    const unmet: string[] = [];
    const share = rows === 0 ? 0 : ((rows - blank.count) / rows) * 100;
    if (filled !== undefined && share < filled) {
      const place = blank.count > 0 ? `; blank${blank.place()}` : "";
      unmet.push(
        `${name} is filled in ${Math.floor(share * 10) / 10} % of the rows, expected ${filled} %${place}`,
      );
    }
    if (twice.count > 0) {
      const first = this.#linesByValue.get(toCompared(twice.first));
      unmet.push(`${name} is not unique: ${quote(twice.first)} is on line ${first} too${twice.place()}`);
    }
    if (foreign.count > 0)
      unmet.push(`${name} has unexpected values such as ${quote(foreign.first)}${foreign.place()}`);
    if (unlike.count > 0)
      unmet.push(`${name} does not match ${matches}: ${quote(unlike.first)}${unlike.place()}`);
    return unmet;
  }

  /** A value that cannot be made rejects its row, and is none here. */
  #valueIn(cells: ReadRow["cells"]): Computed {
    try {
      return this.#column.after(cells);
    } catch {
      return undefined;
    }
  }

  #isLike(text: string): boolean {
    try {
      return this.#matches!(text);
    } catch {
      return false;
    }
  }
}

/** Of what the mapping makes, then of the file. @throws UsageError */
function columnNamed({ name, place }: ColumnExpectation, columns: readonly MadeColumn[]): MadeColumn {
  const ordered = [...columns.filter(({ entry }) => entry?.name === name), ...columns];
  const found =
    ordered.find((column) => column.name === name) ??
    ordered.find((column) => foldName(column.name) === foldName(name));
  if (found) return found;
  throw new UsageError(
    `${place}: expect: there is no column ${JSON.stringify(name)}`,
    suggestColumn(
      name,
      columns.map((column) => column.name),
    ),
  );
}
