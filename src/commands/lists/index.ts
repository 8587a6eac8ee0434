import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerListsCreate } from "./create.ts";
import { registerListsList } from "./list.ts";
import { registerListsSync } from "./sync.ts";

export function registerLists(lists: Command, context: Context): void {
  registerListsList(lists, context);
  registerListsCreate(lists, context);
  registerListsSync(lists, context);
}
