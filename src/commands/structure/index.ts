import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerStructureApply } from "./apply.ts";
import { registerStructureDiff } from "./diff.ts";
import { registerStructureGet } from "./get.ts";
import { registerStructureList } from "./list.ts";
import { registerStructureParts } from "./parts.ts";
import { registerStructurePull } from "./pull.ts";
import { registerStructureUpdate } from "./update.ts";

export function register(structure: Command, context: Context): void {
  registerStructureList(structure, context);
  registerStructureGet(structure, context);
  registerStructureUpdate(structure, context);
  registerStructureParts(structure, context);
  registerStructurePull(structure, context);
  registerStructureDiff(structure, context);
  registerStructureApply(structure, context);
}
