/** What `ecm` alone prints: every command in groups, in at most 24 lines of 80 columns. */

import { fitMessage } from "../../terminal/message-lines.ts";

/** The groups of commands, in the order of the help. A command that is missing here fails a test. */
const commandGroups: readonly [title: string, commands: readonly [name: string, summary: string][]][] = [
  [
    "Contacts",
    [
      ["contact", "create, get, search, change, unsubscribe, delete"],
      ["import", "bring contacts in from CSV, Excel or JSON"],
      ["export", "write contacts to a file"],
      ["lists", "lists and their members"],
      ["events", "what happened to contacts"],
    ],
  ],
  [
    "Account",
    [
      ["structure", "fields and tags, also as a file"],
      ["auth", "log in, switch accounts"],
      ["limits", "what is left of the hour and the month"],
      ["runs", "bulk runs: show, resume, undo"],
    ],
  ],
  [
    "Rehearse",
    [
      ["plan", "show a plan file, for whoever approves it"],
      ["apply", "carry out a plan file that was approved"],
      ["sandbox", "the whole service on this machine, no account needed"],
    ],
  ],
];

/** Commands that share one line. */
const furtherCommands = [
  "reports",
  "campaigns",
  "templates",
  "domains",
  "api",
  "doctor",
  "suppressions",
  "mcp",
  "commands",
  "completion",
];

/** @param names of the commands that there are @param columns of the screen */
export function formatRootHelp(names: readonly string[], columns: number): string {
  const lines = [
    "Administer the contacts of an email-marketing account.",
    "",
    "Usage: ecm <command> [flags]",
    "",
  ];
  for (const [title, commands] of commandGroups) {
    const present = commands.filter(([name]) => names.includes(name));
    for (const [place, [name, summary]] of present.entries())
      lines.push(
        fitMessage(`${(place === 0 ? title : "").padEnd(13)}${name.padEnd(11)}${summary}`, columns, 24),
      );
  }
  const further = furtherCommands.filter((name) => names.includes(name));
  lines.push(
    fitMessage(`${"More".padEnd(13)}${further.join("  ")}`, columns, 13),
    "",
    "Get started  ecm auth login",
    "             ecm -p sandbox import contacts.csv --dry-run",
    "",
    fitMessage("Flags for every command: ecm help flags · exit codes: ecm help exit-codes", columns),
    fitMessage("One command: ecm <command> --help · other topics: ecm help topics", columns),
  );
  return `${lines.join("\n")}\n`;
}

/** The pages of `ecm help TOPIC`; `topics` lists them. */
export const topicNames = [
  "flags",
  "environment",
  "exit-codes",
  "formats",
  "filters",
  "where",
  "selections",
  "faults",
  "variants",
] as const;
