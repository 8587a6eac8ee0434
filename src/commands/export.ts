import type { Command } from "commander";
import type { Context } from "../context.ts";

export function registerExport(_command: Command, _context: Context): void {}
