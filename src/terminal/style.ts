/** Colour with restraint, behind one door. */
import { Chalk, type ChalkInstance } from "chalk";

export type Style = ChalkInstance;

/** Styles that paint, or that leave text as it is. Paint only text that is already escaped. */
export function styleFor(isColored: boolean): Style {
  return new Chalk({ level: isColored ? 1 : 0 });
}
