/** What completions offer for values: from the command tree, the profiles, the runs, and the names that commands saw. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Argument, Command, Option } from "commander";
import { readNames } from "../../config/names-cache.ts";
import { resolveProfile } from "../../config/resolve.ts";
import { readSettings } from "../../config/settings.ts";
import type { Context } from "../../context.ts";
import { type KnownNames, knownNames } from "../../service/remembered-names.ts";
import { outputFormats } from "../../terminal/format.ts";

/** The complete words of a command line. */
export interface Typed {
  /** To which command the words lead, and its arguments so far. */
  command: Command;
  args: string[];
  /** The flag whose value is typed. */
  open?: Option;
  isPastFlags: boolean;
  profile?: string;
  baseUrl?: string;
}

const scopes = [
  "contacts:read",
  "contacts:write",
  "campaigns:read",
  "campaigns:write",
  "reports:read",
  "domains:read",
];

/** Possible values of a flag or an argument that begin with what was typed. `files`: any file name. */
export async function valuesOf(
  context: Context,
  thing: Option | Argument,
  typed: Typed,
  unfinished: string,
): Promise<readonly string[] | "files"> {
  const values =
    thing.argChoices ?? (await valuesOfKind(context, kindOf(thing, typed.command), typed, unfinished));
  if (values === "files") return values;
  const fold = (text: string) => text.normalize("NFC").toLowerCase();
  return values.filter((value) => fold(value).startsWith(fold(unfinished)));
}

async function valuesOfKind(
  context: Context,
  kind: string,
  typed: Typed,
  unfinished: string,
): Promise<readonly string[] | "files"> {
  const names = (part: keyof KnownNames) => namesOf(context, typed, part);
  switch (kind) {
    case "file":
    case "dir":
    case "command":
      return "files";
    case "list":
    case "tag":
    case "campaign":
    case "domain":
      return names(`${kind}s`);
    case "field":
      return names("fields");
    case "field=value":
      return (await names("fields")).map((label) => `${label}=`);
    case "column=target": {
      const column = unfinished.slice(0, unfinished.lastIndexOf("=") + 1);
      const targets = ["key", "lists", "tags", "ignore", ...(await names("fields"))];
      return column === "" ? [] : targets.map((target) => column + target);
    }
    case "id-or-label":
    case "structure":
      return names("structures");
    case "profile":
      return (await context.profiles()).names();
    case "format":
      return outputFormats;
    case "method":
      return ["GET", "POST", "PUT", "PATCH", "DELETE"];
    case "system":
      return (await import("../../bulk/read/systems.ts")).systemNames();
    case "scope":
      return scopes;
    case "run":
      return ["last", ...(await readdir(join(context.folders.state, "runs"))).toReversed()];
    default:
      return [];
  }
}

/** Of the account that the command line and the environment select. */
async function namesOf(context: Context, { profile, baseUrl }: Typed, part: keyof KnownNames) {
  const settings = readSettings({ profile, baseUrl }, context.terminal.env);
  const { identity } = await resolveProfile(settings, context.profiles, context.terminal.env);
  return knownNames(readNames(context.folders, identity))[part];
}

/** What an argument or the value of a flag is, in one word: the one in its angle brackets, or what its command is about. */
function kindOf(thing: Option | Argument, command: Command): string {
  if (!("flags" in thing)) return command.parent?.name() === "auth" ? "profile" : thing.name();
  return thing.long === "--profile" ? "profile" : (/<(.+)>/.exec(thing.flags)?.[1] ?? "");
}
