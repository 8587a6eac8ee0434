/** The global flags and their variables, resolved once: flag, environment, profile, default. */
import { usageError } from "../errors.ts";

/** A value and where it came from, for messages and `auth status`. */
export interface Sourced<T> {
  value: T;
  source: "flag" | "environment" | "profile" | "default";
}

/** The global flags as commander parses them. */
export interface GlobalFlags {
  profile?: string;
  baseUrl?: string;
  structure?: string;
  output?: string;
  json?: boolean;
  columns?: string;
  timeout?: string;
  maxWait?: string;
  quiet?: boolean;
  verbose?: boolean;
  verboseBodies?: boolean;
  input?: boolean;
  yes?: boolean;
  readOnly?: boolean;
  color?: boolean;
}

export interface Settings {
  profile?: Sourced<string>;
  baseUrl?: Sourced<string>;
  structure?: Sourced<string>;
  apiKey?: Sourced<string>;
  timeoutSeconds: number;
  maxWaitSeconds: number;
  quiet: boolean;
  verbose: "no" | "requests" | "bodies";
  noInput: boolean;
  yes: boolean;
  /** From flag or environment; a profile can carry it too. */
  readOnly: boolean;
  /** `ECM_SUPPRESSIONS`: the suppression list, in place of the account's own. */
  suppressions?: string;
  /** `ECM_INSECURE_HTTP`: the one host beside loopback that plain http may go to. */
  insecureHttp?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** @throws UsageError naming the flag or variable at fault. */
export function readSettings(flags: GlobalFlags, env: Environment): Settings {
  return {
    profile: toSourced(flags.profile, env.ECM_PROFILE),
    baseUrl: toSourced(flags.baseUrl, env.ECM_BASE_URL),
    structure: toSourced(flags.structure, env.ECM_STRUCTURE),
    apiKey: toSourced(undefined, env.ECM_API_KEY),
    timeoutSeconds:
      parseSeconds(flags.timeout, "--timeout") ??
      parseSeconds(toNonEmpty(env.ECM_TIMEOUT), "ECM_TIMEOUT") ??
      30,
    maxWaitSeconds: parseSeconds(flags.maxWait, "--max-wait") ?? 300,
    quiet: flags.quiet ?? false,
    verbose: flags.verboseBodies ? "bodies" : flags.verbose ? "requests" : "no",
    noInput: flags.input === false || isYes(env.ECM_NO_INPUT),
    yes: flags.yes ?? false,
    readOnly: flags.readOnly ?? isYes(env.ECM_READ_ONLY),
    suppressions: toNonEmpty(env.ECM_SUPPRESSIONS),
    insecureHttp: toNonEmpty(env.ECM_INSECURE_HTTP),
  };
}

/** Whether a variable of the environment means yes. */
export function isYes(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value.toLowerCase() !== "false";
}

function toSourced(flag: string | undefined, variable: string | undefined): Sourced<string> | undefined {
  if (flag !== undefined) return { value: flag, source: "flag" };
  const value = toNonEmpty(variable);
  return value === undefined ? undefined : { value, source: "environment" };
}

/** An empty variable counts as unset, as everywhere on a command line. */
function toNonEmpty(variable: string | undefined): string | undefined {
  return variable === undefined || variable === "" ? undefined : variable;
}

function parseSeconds(text: string | undefined, where: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value) && value >= 0) return value;
  throw usageError(
    `${where}: ${JSON.stringify(text)} is not a number of seconds`,
    `Give a number, such as ${where}${where.startsWith("--") ? " " : "="}30`,
  );
}
