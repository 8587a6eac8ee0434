/** What running a command takes and leaves, for whoever has to allow it: derived from its flags and facts. */
import type { Command } from "commander";
import { findShape } from "./flags.ts";
import { type CommandFacts, findFacts } from "./help-text.ts";

/** A file or folder that the command may write. */
export interface FileEffect {
  /** With the variable or the flag that says where. */
  path: string;
  type: "cache" | "log" | "state" | "config" | "credential" | "output";
  /** The command that removes it. */
  clearableWith?: string;
}

/** Groups whose requests are of other things than contacts. */
const resources: Record<string, string> = {
  campaigns: "campaigns",
  templates: "campaigns",
  domains: "domains",
  reports: "reports",
};

/** The scopes that a key needs for it; to write a resource includes to read it. */
export function listScopes(command: Command): string[] {
  const facts = findFacts(command);
  if (!facts || facts.isLocal) return [];
  if (facts.scopes) return [...facts.scopes];
  const access = facts.writes ? "write" : "read";
  return [`${resources[findGroupName(command)] ?? "contacts"}:${access}`];
}

/** What it may write on this machine. @param flags that it takes */
export function listFileEffects(command: Command, flags: readonly string[]): FileEffect[] {
  const facts = findFacts(command);
  if (!facts) return [];
  return [...listOwnFiles(command, facts, flags), ...listNamedFiles(command)];
}

function listOwnFiles(command: Command, facts: CommandFacts, flags: readonly string[]): FileEffect[] {
  const group = findGroupName(command);
  const isBulk = flags.includes("--max-requests") && group !== "sandbox";
  const changes = facts.danger !== undefined && facts.danger !== "safe";
  return [
    ...(facts.isLocal ? [] : [{ path: "$ECM_CACHE_DIR", type: "cache" } as const]),
    ...(isBulk
      ? [{ path: "$ECM_STATE_DIR/runs", type: "state", clearableWith: "ecm runs remove" } as const]
      : []),
    ...(group === "runs" && facts.asks === true
      ? [{ path: "$ECM_STATE_DIR/runs", type: "state" } as const]
      : []),
    ...(group === "auth" && changes ? [{ path: "$ECM_CONFIG_DIR", type: "credential" } as const] : []),
    ...(group === "sandbox" && changes
      ? [{ path: "$ECM_STATE_DIR/sandbox", type: "state", clearableWith: "ecm sandbox reset" } as const]
      : []),
    ...(group === "suppressions" && (changes || facts.asks === true)
      ? [{ path: "$ECM_STATE_DIR/suppressions", type: "state" } as const]
      : []),
  ];
}

/** Where the caller says so. */
function listNamedFiles({ options }: Command): FileEffect[] {
  const named = options.filter((option) => findShape(option).writes !== undefined && !option.hidden);
  return named.map(({ long }) => ({ path: long!, type: "output" }));
}

function findGroupName(command: Command): string {
  return command.parent?.parent ? findGroupName(command.parent) : command.name();
}
