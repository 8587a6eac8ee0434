/** Apart from what writes workbooks: every command may ask whether a file is ours, and few write one. Pure. */

/** By which a workbook of ours is known; a program that saves it puts its own name there. */
export const workbookMark = "<Application>ecm</Application>";

/** @param start the first bytes of a file, as text */
export function isOwnWorkbook(start: string): boolean {
  return start.startsWith("PK") && start.includes(workbookMark);
}
