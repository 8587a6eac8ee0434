import type { Command } from "commander";
import type { Context } from "../../context.ts";

export function registerStructure(_structure: Command, _context: Context): void {}
