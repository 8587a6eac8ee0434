/** Reading: what the cells of a row say of consent. */

import type { Mark, Row } from "../rows.ts";
import { type ConsentColumn, type ConsentRefusal, describeRefusals, findRefusal } from "./cells.ts";
import { readMarkCell, unclearSign } from "./mark-cells.ts";

export function toMark(refusals: readonly ConsentRefusal[], consent: readonly ConsentColumn[]): Mark {
  return {
    notSubscribed: describeRefusals(refusals, consent),
    isMarkClear: refusals.some(({ isUnclear }) => !isUnclear),
  };
}

/** Where a cell holds a delimiter without quotes, all cells behind it are further to the right. */
export function findRefusalWithin(
  column: ConsentColumn,
  cellAt: (index: number) => string | undefined,
  shifted: number,
): ConsentRefusal | undefined {
  let found: ConsentRefusal | undefined;
  for (let by = 0; by <= shifted; by++) {
    const refusal = findRefusal(column, cellAt(column.index + by));
    if (refusal && !refusal.isUnclear) return refusal;
    found ??= refusal;
  }
  return found;
}

/**
 * A mark on any row of a contact marks it, also on one that is rejected.
 * @param markedElsewhere identities that other rows mark
 */
export function withMarks(row: Row, markedElsewhere: ReadonlyMap<string, Mark>): Row {
  const mark = markedElsewhere.get(row.key.identity);
  if (!mark) return row;
  const { notSubscribed = mark.notSubscribed, isMarkClear } = row;
  return { ...row, notSubscribed, isMarkClear: isMarkClear || mark.isMarkClear };
}

/** What a rejects file says of a marked row. */
export function formatMark({ notSubscribed, isMarkClear }: Mark): string {
  return isMarkClear || readMarkCell(notSubscribed) === "unclear"
    ? notSubscribed
    : unclearSign + notSubscribed;
}

/**
 * The mark of a row that is wrong by itself, where it is not in its cells for all to see.
 * @param other what other rows say of the addresses in its cells
 */
export function findHiddenMark(
  own: (Mark & { refusals: readonly ConsentRefusal[] }) | undefined,
  other: Mark | undefined,
  columns: readonly ConsentColumn[],
): string | undefined {
  if (other) return formatMark(other);
  const isHidden = own?.refusals.some(
    ({ index, cell, isUnknown }) =>
      isUnknown || cell === "" || columns.some((each) => each.index === index && isHiddenIn(each)),
  );
  return own && isHidden ? formatMark(own) : undefined;
}

/** A column that is known by its values, in whatever rows they are. */
function isHiddenIn({ rule }: ConsentColumn): boolean {
  return rule === "status" || rule === "marked";
}
