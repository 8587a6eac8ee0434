/**
 * What a command may use: the terminal, the service, the configuration, the clock, the signal. Nothing is
 * opened before it is asked for, so that help and completions need neither a profile nor the network.
 */
import { realClock } from "./clock.ts";
import { chooseFolders, type Folders } from "./config/folders.ts";
import type { ProfileStore } from "./config/profiles.ts";
import type { ResolvedProfile } from "./config/resolve.ts";
import { type GlobalFlags, isYes, readSettings, type Settings } from "./config/settings.ts";
import type { Connection, Purpose } from "./connection.ts";
import type { Activity } from "./disk/activities.ts";
import { openWrittenFiles, type WrittenFiles } from "./disk/own-outputs.ts";
import { noteWrittenFile } from "./disk/written-files.ts";
import { DeclinedError, exitCodes, UsageError } from "./errors.ts";
import { chooseFileFormat } from "./terminal/file-names.ts";
import { type OutputFormat, type OutputOptions, parseFormat } from "./terminal/format.ts";
import { requireReplaceable, toFileState } from "./terminal/output-target.ts";
import { isOwnOutput } from "./terminal/own-output.ts";
import type { Prompter } from "./terminal/prompter.ts";
import { cannotAskError, canPrompt, createPrompter } from "./terminal/prompts.ts";
import { createTerminal, type Terminal, type TerminalStreams } from "./terminal/terminal.ts";
import type { Clock, RateLimits } from "./wire.ts";

export type { Connection } from "./connection.ts";

/** Flags of every command that lists or exports. */
export interface OutputFileFlags {
  outputFile?: string;
  force?: boolean;
  bom?: boolean;
  safeCells?: boolean;
}

/** What a program that runs commands in its own process is told besides what the streams carry. */
export interface Observer {
  /** Of a list that was shown in part. */
  page?(page: { total?: number; hasMore: boolean }): void;
}

export interface Context {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Set where another program of this process runs the command. */
  readonly observer?: Observer;
  /** Fires on SIGINT and SIGTERM; its reason is the InterruptedError to end with. */
  readonly signal: AbortSignal;
  readonly folders: Folders;
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  readonly settings: Settings;
  /** Files that commands have written where a user wanted them. */
  readonly writtenFiles: WrittenFiles;
  /**
   * The chosen format and columns. What the name of an output file says goes before all but `--output`, with
   * which it must agree.
   * @param fallback replaces the default of a command with one of its own
   * @param text the form of the command's output for people, where it is YAML
   * @throws UsageError for a format, a name or a file that cannot be
   */
  output(flags?: OutputFileFlags, fallback?: OutputFormat, text?: "table" | "yaml"): OutputOptions;
  profiles(): Promise<ProfileStore>;
  /** The profile that is meant: its address, structure, and where each came from. No key is asked for. */
  profile(): Promise<ResolvedProfile>;
  /**
   * Opens the profile's account, once for each purpose.
   * @param purpose `bulk` for thousands of requests, over up to `connections` sockets
   */
  connect(purpose?: "single" | "bulk", connections?: number): Promise<Connection>;
  /** Opens an account other than the one that is meant: a profile that is being made. */
  open(profile: ResolvedProfile): Promise<Connection>;
  /**
   * Takes persons out of what the embedded service keeps in the state folder, whatever account is meant.
   * @param mask the text without the keys; undefined where none is in it
   * @returns how many of its files held one of the keys
   */
  eraseFromSandbox(keys: readonly string[], mask: (text: string) => string | undefined): Promise<number>;
  /** Tells other processes, until the command ends, that it works with people's data of the account. */
  tellUnderWay(activity: Omit<Activity, "account">): Promise<void>;
  /** Remembers a file that the command writes, so that an erasure can name it. */
  noteWrittenFile(file: string): void;
  /** Undefined when nothing may be asked. */
  prompter(): Prompter | undefined;
  /**
   * Has a destructive step confirmed: `--yes`, or a person's yes.
   * @param question may be made only when somebody is asked
   * @throws UsageError where nobody can be asked; DeclinedError on a no
   */
  confirm(question: string | (() => Promise<string>)): Promise<void>;
  /** Ends the command with this code although nothing is thrown (3: rejected rows; 9: differs). */
  endWith(exitCode: number): void;
  /** What the last answers said of the limits; undefined when the service was not reached. */
  limits(): RateLimits | undefined;
  /** How many requests have left the machine for this command. */
  requestsSent(): number;
}

/** Seen by `main.ts` and `program.ts` only. */
export interface ContextControl {
  context: Context;
  /** Takes the parsed global flags; called before any command runs. */
  configure(flags: GlobalFlags): void;
  exitCode(): number;
  /** Closes what was opened. */
  close(): Promise<void>;
}

export function createContext(
  streams: TerminalStreams,
  signal: AbortSignal,
  clock: Clock = realClock,
  observer?: Observer,
): ContextControl {
  const { env } = streams;
  const terminal = createTerminal(streams, isYes(env.ACCESSIBLE));
  const folders = chooseFolders(env, process.platform);
  const closers: (() => Promise<void>)[] = [];
  let flags: GlobalFlags = {};
  let settings = readSettings({}, {});
  let exitCode: number = exitCodes.done;
  let limits: RateLimits | undefined;
  let requestsSent = 0;
  let profiles: Promise<ProfileStore> | undefined;
  let profile: Promise<ResolvedProfile> | undefined;
  let single: Promise<Connection> | undefined;
  /** Serves single requests too, once it is open. */
  let bulk: Promise<Connection> | undefined;

  const context: Context = {
    terminal,
    clock,
    observer,
    signal,
    folders,
    platform: process.platform,
    get settings() {
      return settings;
    },
    writtenFiles: openWrittenFiles(folders.state),
    output({ outputFile, force, bom, safeCells } = {}, fallback, text = "table") {
      const { writtenFiles } = context;
      const explicitFormat = flags.output === undefined ? undefined : parseFormat(flags.output, "--output");
      const defaultFormat =
        (env.ECM_OUTPUT ? parseFormat(env.ECM_OUTPUT, "ECM_OUTPUT") : undefined) ?? fallback;
      const columns = parseColumns(flags.columns);
      const requestedFormat = flags.json ? "json" : explicitFormat;
      const output = { columns, bom, safeCells };
      if (outputFile === undefined)
        return {
          ...output,
          format: requestedFormat ?? defaultFormat ?? (terminal.isStdoutTerminal ? "table" : "tsv"),
        };
      // Found out here, before anything is sent.
      const format = chooseFileFormat(outputFile, {
        requested: requestedFormat,
        defaultFormat: defaultFormat ?? "tsv",
        text,
      });
      noteWrittenFile(folders.state, outputFile);
      requireReplaceable(outputFile, { force, writtenFiles, isOwn: (start) => isOwnOutput(start, columns) });
      return { ...output, format, outputFile, writtenFiles, stateBefore: toFileState(outputFile) };
    },
    profiles() {
      profiles ??= import("./config/profile-store.ts").then(({ openProfiles }) => openProfiles(folders));
      return profiles;
    },
    profile() {
      profile ??= import("./config/resolve.ts").then(({ resolveProfile }) =>
        resolveProfile(settings, context.profiles, env, () => terminal.isStdinTerminal && !settings.noInput),
      );
      return profile;
    },
    connect(purpose = "single", sockets) {
      if (purpose === "single" && (bulk ?? single)) return (bulk ?? single)!;
      const opened =
        bulk ?? context.profile().then((meant) => open(meant, { kind: purpose, connections: sockets }));
      if (purpose === "bulk") bulk = opened;
      else single = opened;
      return opened;
    },
    open: (other) => open(other, { kind: "single" }),
    async eraseFromSandbox(keys, mask) {
      const { eraseFromSandbox } = await import("./connection.ts");
      return eraseFromSandbox(folders, keys, mask);
    },
    async tellUnderWay(activity) {
      const { baseUrl } = await context.profile();
      const { registerActivity } = await import("./disk/activities.ts");
      closers.push(await registerActivity(folders.state, { ...activity, account: baseUrl.value }));
    },
    noteWrittenFile: (file) => noteWrittenFile(folders.state, file),
    prompter() {
      return canPrompt(terminal, settings.noInput) ? createPrompter(terminal, signal) : undefined;
    },
    async confirm(question) {
      if (settings.yes) return;
      const prompter = context.prompter();
      if (!prompter) throw cannotAskError("This must be confirmed", "Confirm with --yes");
      if (await prompter.confirm(typeof question === "string" ? question : await question())) return;
      throw new DeclinedError();
    },
    endWith(code) {
      exitCode = code;
    },
    limits: () => limits,
    requestsSent: () => requestsSent,
  };

  async function open(profile: ResolvedProfile, purpose: Purpose): Promise<Connection> {
    const { openConnection } = await import("./connection.ts");
    const { connection, close } = await openConnection(profile, purpose, {
      terminal,
      clock,
      signal,
      folders,
      settings,
      onSent() {
        requestsSent++;
      },
      onLimits(seen) {
        limits = { ...limits, ...seen };
      },
    });
    closers.push(close);
    return connection;
  }

  return {
    context,
    exitCode: () => exitCode,
    configure(globalFlags) {
      flags = globalFlags;
      settings = readSettings(globalFlags, env);
      terminal.quiet = settings.quiet;
      terminal.usesPager = globalFlags.pager !== false && !settings.noInput && !terminal.isAccessible;
      if (globalFlags.color === false) terminal.isColored = { out: false, err: false };
      // A bad format is found here, before anything is sent.
      context.output();
    },
    async close() {
      for (const close of closers.splice(0)) await close();
    },
  };
}

/** @throws UsageError for a name that is empty, as in a script whose variable is */
function parseColumns(text: string | undefined): string[] | undefined {
  const names = text?.split(",").map((name) => name.trim());
  if (!names?.includes("")) return names;
  throw new UsageError(
    "--columns: the name of a column is empty",
    "Name columns, such as --columns key,status; an empty word is often a variable that is not set",
  );
}
