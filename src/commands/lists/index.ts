import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerListsCreate } from "./create.ts";
import { registerListsDelete } from "./delete.ts";
import { registerListsDuplicate } from "./duplicate.ts";
import { registerListsList } from "./list.ts";
import { registerListsMerge } from "./merge.ts";
import { registerListsRename } from "./rename.ts";
import { registerListsShow } from "./show.ts";
import { registerListsSync } from "./sync.ts";

export function register(lists: Command, context: Context): void {
  registerListsList(lists, context);
  registerListsShow(lists, context);
  registerListsCreate(lists, context);
  registerListsRename(lists, context);
  registerListsDelete(lists, context);
  registerListsDuplicate(lists, context);
  registerListsMerge(lists, context);
  registerListsSync(lists, context);
}
