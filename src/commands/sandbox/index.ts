import type { Command } from "commander";
import type { Context } from "../../context.ts";

export function registerSandbox(_sandbox: Command, _context: Context): void {}
