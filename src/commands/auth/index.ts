import type { Command } from "commander";
import type { Context } from "../../context.ts";

export function registerAuth(_auth: Command, _context: Context): void {}
