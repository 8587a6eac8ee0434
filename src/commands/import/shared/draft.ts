/** Where the columns of a file go, as a person is changing it. */

import { foldName } from "../../../api/names.ts";
import type { ImportOptions } from "../../../bulk/index.ts";
import {
  countMarkedRows,
  type Proposal,
  type ProposedColumn,
  rejectsColumns,
} from "../../../tables/index.ts";

export type ColumnReading = "opt-in" | "opt-out";

/** A column with what was answered of it. */
export interface DraftColumn extends ProposedColumn {
  /** A person has said where it goes. */
  isAnswered: boolean;
  reading?: ColumnReading;
  /** What is between the tags or lists in a cell. */
  split?: string;
}

export class Draft {
  readonly proposal: Proposal;
  readonly columns: DraftColumn[];

  constructor(proposal: Proposal) {
    this.proposal = proposal;
    this.columns = proposal.columns
      .filter(({ name }) => !rejectsColumns.has(name))
      .map((column) => ({ ...column, isAnswered: false }));
  }

  key(): DraftColumn | undefined {
    return this.columns.find(({ target }) => target === "key");
  }

  find(name: string): DraftColumn {
    return this.columns.find((column) => column.name === name)!;
  }

  /** @param isNew the target is a field that is to be created */
  place(column: DraftColumn, target: string, isNew = false): void {
    Object.assign(column, { target, isNew, isAnswered: true, split: undefined });
    column.marked = undefined;
    // Only of what may be consent by itself the answer holds wherever it goes.
    if (!column.readings || target === "ignore") column.reading = undefined;
    const [, reading] = /^consent=(opt-in|opt-out)$/.exec(target) ?? [];
    if (reading !== undefined) this.read(column, reading as ColumnReading);
  }

  /** How a column is read as consent, wherever it goes. */
  read(column: DraftColumn, reading: ColumnReading): void {
    column.reading = reading;
    column.marked = countMarkedRows(this.proposal, column.name, reading);
  }

  /** In place of the column that had the key, which is ignored then. */
  placeKey(column: DraftColumn): void {
    const before = this.key();
    if (before && before !== column) this.place(before, "ignore");
    this.place(column, "key");
  }

  /** Labels of the fields that columns go to. */
  labels(except?: DraftColumn): Set<string> {
    return new Set(this.columns.flatMap((each) => (each === except ? [] : foldName(each.target))));
  }

  /** How the file is read by the answers: flags and rules that settle a column are left as they are. */
  applyTo(read: ImportOptions["read"]): ImportOptions["read"] {
    const placed = this.columns.filter(({ isAnswered, isSure }) => isAnswered || !isSure);
    const isPlaced = (name: string) => placed.some((column) => foldName(column.name) === foldName(name));
    const map = new Map([...read.map].filter(([name]) => !isPlaced(name)));
    for (const { name, target } of placed) map.set(name, target);
    const splits = [
      ...(read.splits ?? []).filter(([name]) => !isPlaced(name)),
      ...placed.flatMap(({ name, split }) => (split === undefined ? [] : [[name, split] as const])),
    ];
    const consentColumns = this.consentColumns(read.consentColumns ?? []);
    const newFields = this.columns
      .filter(({ isNew }) => isNew)
      .map(({ target }) => ({ label: target, dataType: "text" }));
    return {
      ...read,
      map,
      splits: splits.length > 0 ? splits : undefined,
      consentColumns: consentColumns.length > 0 ? consentColumns : undefined,
      newFields: newFields.length > 0 ? newFields : undefined,
      isReviewed: undefined,
    };
  }

  /** What a target cannot say: how a column is read that fills a field besides. */
  private consentColumns(typed: readonly string[]): string[] {
    const answered = this.columns.filter(
      ({ reading, isAnswered, target }) => reading !== undefined || (isAnswered && target === "ignore"),
    );
    const isAnswered = (text: string) =>
      answered.some(({ name }) => [text, text.replace(/=[^=]*$/, "")].map(foldName).includes(foldName(name)));
    const flags = answered
      .filter(({ reading, target }) => reading !== undefined && !target.startsWith("consent="))
      .map(({ name, reading }) => `${name}=${reading}`);
    return [...typed.filter((text) => !isAnswered(text)), ...flags];
  }
}
