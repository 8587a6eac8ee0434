import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { describeCommand } from "../shared/help-text.ts";

interface Skill {
  name: string;
  file: string;
  state: "new" | "changed" | "unchanged";
}

const view: View<Skill> = {
  columns: [
    { name: "name", value: ({ name }) => name },
    { name: "file", value: ({ file }) => file, isWhole: true },
    { name: "state", value: ({ state }) => state },
  ],
  id: ({ name }) => name,
};

/** Beside `dist/` and `src/` in the package. */
const packageFolders = ["..", "../../.."].map((up) => join(import.meta.dirname, up, "skills"));

interface InstallFlags {
  dir?: string;
  dryRun?: boolean;
}

export function registerSkillsInstall(parent: Command, context: Context): void {
  const command = parent
    .command("install")
    .description("install skills for agents, where they look for them")
    .option("--dir <dir>", "folder for the skills (~/.agents/skills)")
    .option("--dry-run", "show what would be installed, without writing it")
    .action((flags: InstallFlags) => runSkillsInstall(context, flags));
  describeCommand(command, {
    isLocal: true,
    danger: "mutating",
    examples: ["ecm skills install --dry-run", "ecm skills install --dir .agents/skills"],
    output: "Each skill, its file, and whether that is new, changed or unchanged.",
  });
}

async function runSkillsInstall(context: Context, { dir, dryRun = false }: InstallFlags): Promise<void> {
  const output = context.output();
  const folder =
    dir === undefined ? join(context.terminal.env.HOME ?? homedir(), ".agents/skills") : resolve(dir);
  const installed: Skill[] = [];
  for (const { name, text } of await readSkills()) {
    const file = join(folder, name, "SKILL.md");
    const before = await readFile(file, "utf8").catch(() => undefined);
    const state = before === undefined ? "new" : before === text ? "unchanged" : "changed";
    installed.push({ name, file, state });
    if (dryRun || state === "unchanged") continue;
    makeFolder(join(folder, name));
    await writeAtomically(file, text);
  }
  await presentList(context.terminal, output, installed, view);
}

async function readSkills(): Promise<{ name: string; text: string }[]> {
  for (const folder of packageFolders) {
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.startsWith("ecm-"));
    if (names.length === 0) continue;
    const read = (name: string) => readFile(join(folder, name, "SKILL.md"), "utf8");
    return Promise.all(names.sort().map(async (name) => ({ name, text: await read(name) })));
  }
  return [];
}
