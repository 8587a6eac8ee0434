import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { readWholeStructure, structureView, toStructureResult } from "./shared.ts";

export function registerStructureGet(parent: Command, context: Context): void {
  const command = parent
    .command("get")
    .description("show one structure with its fields and tags")
    .argument("[structure]", "its label or id (default: the one in use)");
  verb(context, addOutputFileFlags(command), {
    examples: ["ecm structure get", "ecm structure get Default --json"],
    output: "The structure; in JSON formats the service's own object.",
    view: structureView,
    async run(nameOrId) {
      return toStructureResult(context, await readWholeStructure(context, nameOrId));
    },
  });
}
