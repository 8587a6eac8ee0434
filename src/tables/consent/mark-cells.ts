/**
 * Reading: the column by which a rejects file says that its input marks a row as not subscribed. The row's own
 * cells may not: which columns speak of consent shows in all rows of a file, and another row may have the mark.
 */
export const markColumn = "ecm_not_subscribed";

/** Before a mark that was not understood: it keeps from creating, and unsubscribes nobody. */
export const unclearSign = "? ";

/** @returns whether the column says of a row that it is marked; `unclear` where the mark was not understood */
export function readMarkCell(cell: string): "none" | "clear" | "unclear" {
  if (cell.trim() === "") return "none";
  return cell.trim().startsWith(unclearSign.trim()) ? "unclear" : "clear";
}
