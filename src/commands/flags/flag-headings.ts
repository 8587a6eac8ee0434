/**
 * Headings in the help of a command with many flags. The heading of a flag stands where the flag is defined,
 * by commander's `optionsGroup` or `helpGroup`; without one it is under "Options:".
 */
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";

/** Those that are set in several places. */
export const flagHeadings = {
  preview: "See it first:",
  guards: "Refuse what is too much:",
  pace: "Requests and time:",
} as const;

/** A shorter list is read at a glance. */
const maxUngroupedFlags = 16;

/** Takes the headings off a command with few flags, and off such ones below it. */
export function dropNeedlessHeadings(command: Command): void {
  for (const child of command.commands) dropNeedlessHeadings(child);
  if (command.options.filter(({ hidden }) => !hidden).length > maxUngroupedFlags) return;
  for (const option of command.options) option.helpGroupHeading = undefined;
}
