/** Colour with restraint, behind one door: the few ways of standing out that both dark and light screens show well. */

type Paint = (text: string) => string;

/** Paint only text that is already escaped. */
export interface Style {
  bold: Paint;
  dim: Paint;
  red: Paint;
  yellow: Paint;
}

/** Styles that paint, or that leave text as it is. */
export function styleFor(isColored: boolean): Style {
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      isColored && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return { bold: paint(1, 22), dim: paint(2, 22), red: paint(31, 39), yellow: paint(33, 39) };
}
