import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerSkillsInstall } from "./install.ts";

export function registerSkills(skills: Command, context: Context): void {
  registerSkillsInstall(skills, context);
}
