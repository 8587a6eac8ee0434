/** Where the help of a command with many flags shows each of them: under a heading, by what it is about. */
import type { Command } from "commander";

type FlagGroups = Readonly<Record<string, readonly string[]>>;

/** Of an import alone: elsewhere some of these flags choose contacts. */
const importGroups: FlagGroups = {
  "The file": ["from", "sheet", "delimiter", "encoding", "skip-lines", "no-header", "template"],
  Columns: ["map", "mapping", "ignore-unmapped", "set", "default", "blank", "duplicates"],
  "Lists and tags": ["list", "tag", "create-missing"],
  "Who is written": [
    "mode",
    "consent-column",
    "include-unsubscribed",
    "unsubscribe-marked",
    "include-suppressed",
    "unique",
    "fresh",
  ],
  "See it first": ["check"],
};

/** Of every bulk command. */
const bulkGroups: FlagGroups = {
  "See it first": ["dry-run", "profiles", "plan", "show", "report", "redact"],
  "Refuse what is too much": ["max-changes", "max-clears", "max-create", "max-delete"],
  "Requests and time": ["max-requests", "reserve", "wait", "no-wait", "until", "concurrency"],
  "Rejected rows": ["max-rejects", "rejects"],
};

/** A shorter list is read at a glance. */
const maxUngroupedFlags = 16;

/** Sets the headings of a command, and of those below it. */
export function groupFlags(command: Command): void {
  for (const child of command.commands) groupFlags(child);
  if (command.options.filter(({ hidden }) => !hidden).length <= maxUngroupedFlags) return;
  for (const groups of [bulkGroups, command.name() === "import" ? importGroups : {}]) {
    for (const [heading, flags] of Object.entries(groups)) {
      for (const option of command.options) {
        if (flags.includes((option.long ?? "").slice(2))) option.helpGroup(`${heading}:`);
      }
    }
  }
}
