/** The first words of `ecm`, and what `ecm` alone prints of them. A group is loaded when it is named. */
import { fitMessage } from "../terminal/message-lines.ts";
import type { Register } from "./help/tree.ts";

interface Group {
  name: string;
  /** The name in the other number (`contacts`, `run`), which is understood and not shown. */
  alias: string;
  /** Undefined for a hidden group. */
  summary?: string;
  load(): Promise<{ register: Register }>;
}

function group(name: string, summary: string | undefined, load: Group["load"]): Group {
  return { name, alias: name.endsWith("s") ? name.slice(0, -1) : `${name}s`, summary, load };
}

type Resource = keyof typeof import("./resources.ts");

function resource(register: Resource): Group["load"] {
  return async () => ({ register: (await import("./resources.ts"))[register] });
}

/** Every first word of `ecm`, in the order of the help. */
export const groups: readonly Group[] = [
  group("auth", "log in, switch accounts", () => import("./auth/index.ts")),
  group("structure", "fields and tags, also as a file", () => import("./structure/index.ts")),
  group("lists", "lists and their members", () => import("./lists/index.ts")),
  group("contact", "create, get, search, change, unsubscribe, delete", () => import("./contact/index.ts")),
  group("import", "import contacts from CSV, Excel or JSON", () => import("./import/index.ts")),
  group("apply", "carry out a plan file that was approved", () => import("./apply.ts")),
  group("plan", "show a plan file, for whoever approves it", () => import("./plan/show.ts")),
  group("export", "write contacts to a file", () => import("./export.ts")),
  group("events", "what happened to contacts", () => import("./events.ts")),
  group("campaigns", "campaigns, to look at", resource("registerCampaigns")),
  group("templates", "email templates, to look at", resource("registerTemplates")),
  group("domains", "sending domains, and what they need in DNS", resource("registerDomains")),
  group("reports", "what became of mails", resource("registerReports")),
  group("suppressions", "people who must never be created again", () => import("./suppressions/index.ts")),
  group("runs", "bulk runs: show, resume, undo", () => import("./runs/index.ts")),
  group("api", "call any endpoint with the profile's key", () => import("./api.ts")),
  group("limits", "what is left of the hour and of the month", () => import("./limits.ts")),
  group(
    "sandbox",
    "the whole service on this machine, no account needed",
    () => import("./sandbox/index.ts"),
  ),
  group(
    "doctor",
    "check key, base URL, clock, limits, folders and unfinished runs",
    () => import("./doctor.ts"),
  ),
  group(
    "mcp",
    "a Model Context Protocol server on stdin and stdout, for agents",
    () => import("./mcp/index.ts"),
  ),
  group("commands", "the command tree, for scripts and agents", () => import("./commands.ts")),
  group(
    "completion",
    "completions for bash, zsh, fish and PowerShell",
    () => import("./completion/index.ts"),
  ),
  group("__topic", undefined, () => import("./help/topics.ts")),
  group("__complete", undefined, () => import("./completion/complete.ts")),
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
