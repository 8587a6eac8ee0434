/** The visible list of command groups. A group is loaded when it is named. */
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
    summary: "log in, and choose between profiles",
    load: async () => (await import("./auth/index.ts")).registerAuth,
  },
  {
    name: "structure",
    aliases: ["structures"],
    summary: "the custom fields and tags of contacts",
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
    summary: "create, get, search and change contacts",
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
    summary: "look at a plan file",
    load: async () => (await import("./plan/index.ts")).registerPlan,
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
    summary: "the whole service, embedded: rehearse without an account",
    load: async () => (await import("./sandbox/index.ts")).registerSandbox,
  },
  {
    name: "doctor",
    summary: "check key, base URL, clock, limits, folders and unfinished runs",
    load: async () => (await import("./doctor/index.ts")).registerDoctor,
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
export const visibleGroups = groups.filter(({ isHidden }) => !isHidden).map(({ name }) => name);
