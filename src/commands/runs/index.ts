import type { Command } from "commander";
import type { Context } from "../../context.ts";

export function registerRuns(_runs: Command, _context: Context): void {}
