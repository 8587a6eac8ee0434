import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { addFileFlag } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { readWholeStructure, tagsLeftOut } from "./shared.ts";

export function registerStructurePull(parent: Command, context: Context): void {
  const command = parent
    .command("pull")
    .description("write a structure as a YAML file for version control")
    .argument("[structure]", "its label or id (default: the one in use)");
  verb(context, addFileFlag(command), {
    examples: ["ecm structure pull > structure.yaml", "ecm structure pull --output-file structure.yaml"],
    output: "YAML with the label, the key's name, fields and tags; in JSON formats the same as JSON.",
    form: "yaml",
    async run(nameOrId) {
      const { formatStructureFile, toStructureSpec } = await import("../../structure/file.ts");
      const structure = await readWholeStructure(context, nameOrId);
      if (!structure.tags) context.terminal.warn(tagsLeftOut);
      const value = toStructureSpec(structure);
      return { value, text: formatStructureFile(value) };
    },
  });
}
