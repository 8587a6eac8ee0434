/** The first words of `ecm`, and what `ecm` alone prints of them. A group is loaded when it is named. */
import { fitMessage } from "../terminal/message-lines.ts";
import type { Register } from "./help/tree.ts";

interface Group {
  name: string;
  /** Other names that people try; understood, and not shown. */
  aliases?: string[];
  summary: string;
  isHidden?: boolean;
  load(): Promise<Register>;
}

/** Every first word of `ecm`, in the order of the help. */
export const groups: Group[] = [
  {
    name: "auth",
    summary: "log in, switch accounts",
    load: async () => (await import("./auth/index.ts")).registerAuth,
  },
  {
    name: "structure",
    aliases: ["structures"],
    summary: "fields and tags, also as a file",
    load: async () => (await import("./structure/index.ts")).registerStructure,
  },
  {
    name: "lists",
    aliases: ["list"],
    summary: "lists and their members",
    load: async () => (await import("./lists/index.ts")).registerLists,
  },
  {
    name: "contact",
    aliases: ["contacts"],
    summary: "create, get, search, change, unsubscribe, delete",
    load: async () => (await import("./contact/index.ts")).registerContact,
  },
  {
    name: "import",
    summary: "import contacts from CSV, Excel or JSON",
    load: async () => (await import("./import/index.ts")).registerImport,
  },
  {
    name: "apply",
    summary: "carry out a plan file that was approved",
    load: async () => (await import("./apply.ts")).registerApply,
  },
  {
    name: "plan",
    summary: "show a plan file, for whoever approves it",
    load: async () => (await import("./plan/show.ts")).registerPlan,
  },
  {
    name: "export",
    summary: "write contacts to a file",
    load: async () => (await import("./export.ts")).registerExport,
  },
  {
    name: "events",
    aliases: ["event"],
    summary: "what happened to contacts",
    load: async () => (await import("./events/index.ts")).registerEvents,
  },
  {
    name: "campaigns",
    aliases: ["campaign"],
    summary: "campaigns, to look at",
    load: async () => (await import("./resources/index.ts")).registerCampaigns,
  },
  {
    name: "templates",
    aliases: ["template"],
    summary: "email templates, to look at",
    load: async () => (await import("./resources/index.ts")).registerTemplates,
  },
  {
    name: "domains",
    aliases: ["domain"],
    summary: "sending domains, and what they need in DNS",
    load: async () => (await import("./resources/index.ts")).registerDomains,
  },
  {
    name: "reports",
    aliases: ["report"],
    summary: "what became of mails",
    load: async () => (await import("./resources/index.ts")).registerReports,
  },
  {
    name: "suppressions",
    summary: "people who must never be created again",
    load: async () => (await import("./suppressions/index.ts")).registerSuppressions,
  },
  {
    name: "runs",
    aliases: ["run"],
    summary: "bulk runs: show, resume, undo",
    load: async () => (await import("./runs/index.ts")).registerRuns,
  },
  {
    name: "api",
    summary: "call any endpoint with the profile's key",
    load: async () => (await import("./api.ts")).registerApi,
  },
  {
    name: "limits",
    summary: "what is left of the hour and of the month",
    load: async () => (await import("./limits.ts")).registerLimits,
  },
  {
    name: "sandbox",
    summary: "the whole service on this machine, no account needed",
    load: async () => (await import("./sandbox/index.ts")).registerSandbox,
  },
  {
    name: "doctor",
    summary: "check key, base URL, clock, limits, folders and unfinished runs",
    load: async () => (await import("./doctor.ts")).registerDoctor,
  },
  {
    name: "mcp",
    summary: "a Model Context Protocol server on stdin and stdout, for agents",
    load: async () => (await import("./mcp/index.ts")).registerMcp,
  },
  {
    name: "commands",
    summary: "the command tree, for scripts and agents",
    load: async () => (await import("./commands.ts")).registerCommands,
  },
  {
    name: "completion",
    summary: "completions for bash, zsh, fish and PowerShell",
    load: async () => (await import("./completion/index.ts")).registerCompletion,
  },
  {
    name: "__topic",
    summary: "a page of help",
    isHidden: true,
    load: async () => (await import("./help/topics.ts")).registerTopics,
  },
  {
    name: "__complete",
    summary: "answer the completion scripts",
    isHidden: true,
    load: async () => (await import("./completion/complete.ts")).registerComplete,
  },
];

/** The names that the help shows. */
const visibleGroups = groups.filter(({ isHidden }) => !isHidden).map(({ name }) => name);

/** The sections of the help, in its order. What is missing here stands in a line at its end. */
const sections: Readonly<Record<string, readonly string[]>> = {
  Contacts: ["contact", "import", "export", "lists", "events"],
  Account: ["structure", "auth", "limits", "runs"],
  Rehearse: ["plan", "apply", "sandbox"],
};

/**
 * What `ecm` alone prints: every command, in at most 24 lines of 80 columns.
 * @param columns of the screen
 */
export function formatRootHelp(columns: number): string {
  const toLine = (start: string, text: string, indent: number) =>
    fitMessage(`${start.padEnd(indent)}${text}`, columns, indent);
  const listed = Object.entries(sections).flatMap(([title, names]) =>
    names.map((name, place) => {
      const { summary } = groups.find((each) => each.name === name)!;
      return toLine(`${(place === 0 ? title : "").padEnd(13)}${name}`, summary, 24);
    }),
  );
  const further = visibleGroups.filter((name) => !Object.values(sections).flat().includes(name));
  const lines = [
    "Administer the contacts of an email-marketing account.",
    "",
    "Usage: ecm <command> [flags]",
    "",
    ...listed,
    toLine("More", further.join("  "), 13),
    "",
    "Get started  ecm auth login",
    "             ecm -p sandbox import contacts.csv --dry-run",
    "",
    fitMessage("Flags for every command: ecm help flags · exit codes: ecm help exit-codes", columns),
    fitMessage("One command: ecm <command> --help · other topics: ecm help topics", columns),
  ];
  return `${lines.join("\n")}\n`;
}
