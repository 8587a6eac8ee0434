/**
 * The only place that imports the colour library. Only styles that are readable on dark and light
 * backgrounds.
 */
import { Chalk, type ChalkInstance } from "chalk";

/** Paint only text that is already escaped. */
export type Style = Pick<ChalkInstance, "bold" | "dim" | "green" | "red" | "yellow">;

/** Styles that paint, or that leave text as it is. */
export function createStyle(isColored: boolean): Style {
  return new Chalk({ level: isColored ? 1 : 0 });
}
