/**
 * Reading: cells of a workbook of which nobody knows the value: errors, formulas without a saved result, dates
 * beyond 9999. They are neither blank nor filled.
 */

/** Half of a character, with which no text of a file can begin; the other half must not follow. */
const unknownMark = "\ud800";
const markedAsUnknown = /^\ud800(?![\udc00-\udfff])/;

/**
 * A cell of which nobody knows the value: neither blank nor filled.
 * @param shown what is there in its place, such as `#N/A`
 */
export function toUnknownCell(shown: string): string {
  return unknownMark + shown;
}

/** What is shown in the place of the value; undefined for a cell whose value is known. */
export function findUnknown(cell: string | undefined): string | undefined {
  return cell !== undefined && markedAsUnknown.test(cell) ? cell.slice(unknownMark.length) : undefined;
}
