/** `ecm man`: the manual, wherever `ecm` was installed from. */
import { type Command, Option } from "commander";
import { findClosest } from "../api/names.ts";
import type { Context } from "../context.ts";
import { NotFoundError } from "../errors.ts";
import { showManPage } from "../terminal/man-reader.ts";
import { presentValue } from "../terminal/present.ts";
import { listGroups, writeManual, writePage } from "./manual-pages.ts";
import { describeCommand } from "./shared/help-text.ts";
import { type CommandTree, findChild } from "./shared/tree.ts";

export function registerMan(command: Command, context: Context, tree: CommandTree): void {
  command
    .argument("[group]", "a group of commands, such as lists; without it the page of ecm")
    // For what is generated from the tree: one process in place of one for each page.
    .addOption(new Option("--whole", "all pages, as JSON").hideHelp())
    .action((group: string | undefined, { whole }: { whole?: boolean }) =>
      runMan(context, tree, group, whole ?? false),
    );
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm man", "ecm man import", "ecm man lists > ecm-lists.1"],
    output:
      "At a terminal the page in man, or as plain help where there is no man; redirected its source, for man -l. To have it as man ecm too: ecm completion SHELL --install.",
    exitCodes: { 5: "no such group" },
  });
}

async function runMan(
  context: Context,
  tree: CommandTree,
  name: string | undefined,
  isWhole: boolean,
): Promise<void> {
  await tree.loadAll();
  const { root } = tree;
  const output = context.output();
  if (isWhole) return presentValue(context.terminal, { ...output, format: "json" }, writeManual(root), "");
  const group = name === undefined ? undefined : requireGroup(root, name);
  const page = group ? `ecm-${group.name()}` : "ecm";
  const text = writePage(root, group);
  if (output.format !== "table")
    return presentValue(context.terminal, output, { page, text }, text.trimEnd());
  if (showManPage(context.terminal, page, text)) return;
  context.terminal.note("There is no man on this machine; this is the help");
  await context.terminal.write((group ?? root).helpInformation());
}

function requireGroup(root: Command, name: string): Command {
  const group = findChild(root, name);
  const groups = listGroups(root);
  if (group && groups.includes(group)) return group;
  const names = groups.map((each) => each.name());
  const likely = findClosest(name, names);
  throw new NotFoundError(
    `There is no page about ${JSON.stringify(name)}`,
    likely ? `Did you mean ${likely}?` : `Pages: ${names.join(", ")}`,
  );
}
