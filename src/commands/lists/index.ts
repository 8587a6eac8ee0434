import type { Command } from "commander";
import type { Context } from "../../context.ts";

export function registerLists(_lists: Command, _context: Context): void {}
