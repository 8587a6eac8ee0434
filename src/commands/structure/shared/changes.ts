/** Reads a structure file, and describes differences to the account. */
import type { Context } from "../../../context.ts";
import type { StructureChange } from "../../../structure/changes.ts";
import type { StructureSpec } from "../../../structure/file.ts";
import { readDataInput } from "../../../terminal/data-input.ts";
import type { ChangeLine } from "../../output/change-lines.ts";

export const tagsLeftOut = "The service did not say which tags there are; tags are left out";

/** @throws UsageError when it cannot be read, or says something that means nothing. */
export async function readStructureFile(context: Context, file: string): Promise<StructureSpec> {
  const { parseStructureFile } = await import("../../../structure/file.ts");
  const text = await readDataInput(context, file, "FILE");
  return parseStructureFile(text, file === "-" ? "standard input" : file);
}

/** One line: `+` comes, `~` changes, `-` goes, `=` stays although the file does not name it. */
export function describeChange(change: StructureChange): string {
  switch (change.action) {
    case "set":
      return `~ ${change.attribute}: ${quote(change.from)} → ${quote(change.to)}`;
    case "add":
      return change.part === "field"
        ? `+ field ${quote(change.label)} (${change.type}${change.required ? ", required" : ""})`
        : `+ tag ${quote(change.label)}`;
    case "rename":
      return `~ ${change.part} ${quote(change.label)} → ${quote(change.to)}`;
    case "change":
      return `~ field ${quote(change.label)}: ${change.attribute} ${change.from} → ${change.to}`;
    case "remove":
      return `- ${change.part} ${quote(change.label)} (every contact loses it)`;
    case "keep":
      return `= ${change.part} ${quote(change.label)} is only in the account; --prune removes it`;
  }
}

/** The changes as a person sees them at a terminal. */
export function toChangeLines(changes: readonly StructureChange[]): ChangeLine[] {
  return changes
    .map(describeChange)
    .map((line) => ({ mark: line.charAt(0) as ChangeLine["mark"], text: line.slice(2) }));
}

function quote(name: string): string {
  return JSON.stringify(name);
}
