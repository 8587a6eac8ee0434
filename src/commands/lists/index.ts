import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerListsCreate } from "./create.ts";
import { registerListsDelete } from "./delete.ts";
import { registerListsList } from "./list.ts";
import { registerListsRename } from "./rename.ts";
import { registerListsShow } from "./show.ts";
import { registerListsSync } from "./sync.ts";

export function registerLists(lists: Command, context: Context): void {
  registerListsList(lists, context);
  registerListsShow(lists, context);
  registerListsCreate(lists, context);
  registerListsRename(lists, context);
  registerListsDelete(lists, context);
  registerListsSync(lists, context);
}
