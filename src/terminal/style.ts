/** Colour with restraint, behind one door. Only ways of standing out that both dark and light screens show well. */
import { Chalk, type ChalkInstance } from "chalk";

/** Paint only text that is already escaped. */
export type Style = Pick<ChalkInstance, "bold" | "dim" | "green" | "red" | "yellow">;

/** Styles that paint, or that leave text as it is. */
export function styleFor(isColored: boolean): Style {
  return new Chalk({ level: isColored ? 1 : 0 });
}
