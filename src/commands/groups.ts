/** The first words of `ecm`, and what `ecm` alone prints of them. A group is loaded when it is named. */
import { fitMessage } from "../terminal/message-lines.ts";
import type { Register } from "./help/tree.ts";

interface Group {
  name: string;
  /** The name in the other number (`contacts`, `run`), which is understood and not shown. */
  alias: string;
  /** Undefined for a hidden group. */
  summary?: string;
  load(): Promise<Register>;
}

function group(name: string, summary: string | undefined, load: Group["load"]): Group {
  return { name, alias: name.endsWith("s") ? name.slice(0, -1) : `${name}s`, summary, load };
}

const resources = () => import("./resources.ts");

/** Every first word of `ecm`, in the order of the help. */
export const groups: readonly Group[] = [
  group("auth", "log in, switch accounts", async () => (await import("./auth/index.ts")).registerAuth),
  group(
    "structure",
    "fields and tags, also as a file",
    async () => (await import("./structure/index.ts")).registerStructure,
  ),
  group("lists", "lists and their members", async () => (await import("./lists/index.ts")).registerLists),
  group(
    "contact",
    "create, get, search, change, unsubscribe, delete",
    async () => (await import("./contact/index.ts")).registerContact,
  ),
  group(
    "import",
    "import contacts from CSV, Excel or JSON",
    async () => (await import("./import/index.ts")).registerImport,
  ),
  group(
    "apply",
    "carry out a plan file that was approved",
    async () => (await import("./apply.ts")).registerApply,
  ),
  group(
    "plan",
    "show a plan file, for whoever approves it",
    async () => (await import("./plan/show.ts")).registerPlan,
  ),
  group("export", "write contacts to a file", async () => (await import("./export.ts")).registerExport),
  group("events", "what happened to contacts", async () => (await import("./events.ts")).registerEvents),
  group("campaigns", "campaigns, to look at", async () => (await resources()).registerCampaigns),
  group("templates", "email templates, to look at", async () => (await resources()).registerTemplates),
  group(
    "domains",
    "sending domains, and what they need in DNS",
    async () => (await resources()).registerDomains,
  ),
  group("reports", "what became of mails", async () => (await resources()).registerReports),
  group(
    "suppressions",
    "people who must never be created again",
    async () => (await import("./suppressions/index.ts")).registerSuppressions,
  ),
  group("runs", "bulk runs: show, resume, undo", async () => (await import("./runs/index.ts")).registerRuns),
  group(
    "api",
    "call any endpoint with the profile's key",
    async () => (await import("./api.ts")).registerApi,
  ),
  group(
    "limits",
    "what is left of the hour and of the month",
    async () => (await import("./limits.ts")).registerLimits,
  ),
  group(
    "sandbox",
    "the whole service on this machine, no account needed",
    async () => (await import("./sandbox/index.ts")).registerSandbox,
  ),
  group(
    "doctor",
    "check key, base URL, clock, limits, folders and unfinished runs",
    async () => (await import("./doctor.ts")).registerDoctor,
  ),
  group(
    "mcp",
    "a Model Context Protocol server on stdin and stdout, for agents",
    async () => (await import("./mcp/index.ts")).registerMcp,
  ),
  group(
    "commands",
    "the command tree, for scripts and agents",
    async () => (await import("./commands.ts")).registerCommands,
  ),
  group(
    "completion",
    "completions for bash, zsh, fish and PowerShell",
    async () => (await import("./completion/index.ts")).registerCompletion,
  ),
  group("__topic", undefined, async () => (await import("./help/topics.ts")).registerTopics),
  group("__complete", undefined, async () => (await import("./completion/complete.ts")).registerComplete),
];

/** The sections of the help, in its order. All other groups are listed in its last line. */
const sections: Readonly<Record<string, readonly string[]>> = {
  Contacts: ["contact", "import", "export", "lists", "events"],
  Account: ["structure", "auth", "limits", "runs"],
  Rehearse: ["plan", "apply", "sandbox"],
};

/** The groups that are used most, in the order of the help. */
export const groupsInSections = Object.values(sections).flat();

/** The output of `ecm` alone: every group, in at most 24 lines of 80 columns. @param columns of the screen */
export function formatRootHelp(columns: number): string {
  const toLine = (start: string, text: string, indent: number) =>
    fitMessage(`${start.padEnd(indent)}${text}`, columns, indent);
  const listed = Object.entries(sections).flatMap(([title, names]) =>
    names.map((name, place) => {
      const { summary } = groups.find((each) => each.name === name)!;
      return toLine(`${(place === 0 ? title : "").padEnd(13)}${name}`, summary!, 24);
    }),
  );
  const further = groups.filter(({ name, summary }) => summary && !groupsInSections.includes(name));
  const lines = [
    "Administer the contacts of an email-marketing account.",
    "",
    "Usage: ecm <command> [flags]",
    "",
    ...listed,
    toLine("More", further.map(({ name }) => name).join("  "), 13),
    "",
    "Get started  ecm auth login",
    "             ecm -p sandbox import contacts.csv --dry-run",
    "",
    fitMessage("Flags for every command: ecm help flags · exit codes: ecm help exit-codes", columns),
    fitMessage("One command: ecm <command> --help · other topics: ecm help topics", columns),
  ];
  return `${lines.join("\n")}\n`;
}
