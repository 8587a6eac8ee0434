/**
 * What completions offer for values: from the command tree, the
 * profiles, the runs, and the names that commands saw.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Argument, CommandUnknownOpts as Command, Option } from "@commander-js/extra-typings";
import { readCachedNames } from "../../config/caches.ts";
import { resolveProfile } from "../../config/resolve.ts";
import { readSettings } from "../../config/settings.ts";
import type { Context } from "../../context.ts";
import { type KnownNames, listKnownNames } from "../../service/names-cache.ts";
import { outputFormats } from "../../terminal/format.ts";

/** The complete words of a command line. */
export interface TypedLine {
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
export async function listValues(
  context: Context,
  thing: Option | Argument,
  typed: TypedLine,
  unfinished: string,
): Promise<readonly string[] | "files"> {
  const values =
    thing.argChoices ??
    (await listValuesOfKind(context, findValueKind(thing, typed.command), typed, unfinished));
  if (values === "files") return values;
  const fold = (text: string) => text.normalize("NFC").toLowerCase();
  return values.filter((value) => fold(value).startsWith(fold(unfinished)));
}

async function listValuesOfKind(
  context: Context,
  kind: string,
  typed: TypedLine,
  unfinished: string,
): Promise<readonly string[] | "files"> {
  const listNames = (part: keyof KnownNames) => readNames(context, typed, part);
  switch (kind) {
    case "file":
    case "dir":
    case "command":
      return "files";
    case "list":
    case "tag":
    case "campaign":
    case "domain":
      return listNames(`${kind}s`);
    case "field":
      return listNames("fields");
    case "field=value":
      return (await listNames("fields")).map((label) => `${label}=`);
    case "column=target": {
      const column = unfinished.slice(0, unfinished.lastIndexOf("=") + 1);
      const targets = ["key", "lists", "tags", "consent", "ignore", ...(await listNames("fields"))];
      return column === "" ? [] : targets.map((target) => column + target);
    }
    case "id-or-label":
    case "structure":
      return listNames("structures");
    case "profile":
      return (await context.profiles()).names();
    case "format":
      return outputFormats;
    case "method":
      return ["GET", "POST", "PUT", "PATCH", "DELETE"];
    case "system":
      return (await import("../../tables/index.ts")).listSystemNames();
    case "scope":
      return scopes;
    case "status":
      return listStatuses(typed.command);
    case "run":
      return ["last", ...(await readdir(join(context.folders.state, "runs"))).toReversed()];
    default:
      return [];
  }
}

/** Of contacts; elsewhere a status is another thing, such as that of an answer. */
async function listStatuses(command: Command): Promise<readonly string[]> {
  if (command.parent?.name() === "sandbox") return [];
  const { primaryStatuses, secondaryStatuses } = await import("../../select/status-filter.ts");
  return [...primaryStatuses, ...secondaryStatuses];
}

/** Of the account that the command line and the environment select. */
async function readNames(context: Context, { profile, baseUrl }: TypedLine, part: keyof KnownNames) {
  const settings = readSettings({ profile, baseUrl }, context.terminal.env);
  const { identity } = await resolveProfile(settings, context.profiles, context.terminal.env);
  return listKnownNames(readCachedNames(context.folders, identity))[part];
}

/**
 * What an argument or the value of a flag is, in one word: the one in its
 * angle brackets, or what its command is about.
 */
function findValueKind(thing: Option | Argument, command: Command): string {
  if (!("flags" in thing)) return command.parent?.name() === "auth" ? "profile" : thing.name();
  return thing.long === "--profile" ? "profile" : (/<(.+)>/.exec(thing.flags)?.[1] ?? "");
}
