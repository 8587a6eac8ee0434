import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerRecordShow } from "./show.ts";

export function registerRecord(command: Command, context: Context): void {
  registerRecordShow(command, context);
}
