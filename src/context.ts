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
import { declinedError, exitCodes } from "./errors.ts";
import { mergeLimits } from "./rate-limits.ts";
import { CommandFiles } from "./terminal/command-files.ts";
import {
  chooseFileFormat,
  type OutputFormat,
  type OutputOptions,
  parseColumns,
  parseFormat,
  type TextForm,
} from "./terminal/format.ts";
import { cannotAskError, canPrompt, createPrompter, type Prompter } from "./terminal/prompts.ts";
import { Terminal, type TerminalStreams } from "./terminal/terminal.ts";
import type { Clock, RateLimits } from "./wire.ts";

export type { Connection } from "./connection.ts";

/** What a program that runs commands in its own process learns beside the streams. */
export interface Observer {
  /** A list was shown in part. */
  page(page: { total?: number; hasMore: boolean }): void;
}

/** Flags of every command that lists or exports. */
export interface OutputFileFlags {
  outputFile?: string;
  bom?: boolean;
  safeCells?: boolean;
}

/** `run.ts` and `program.ts` see it whole; commands may take single members that are functions in fields. */
export class Context {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** Set where another program of this process runs the command. */
  readonly observer: Observer | undefined;
  /** Fires on SIGINT and SIGTERM; its reason is the InterruptedError to end with. */
  readonly signal: AbortSignal;
  readonly folders: Folders;
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string = process.platform;
  /** The files that the command reads and writes. */
  readonly files: CommandFiles;
  settings: Settings = readSettings({}, {});
  exitCode: number = exitCodes.done;
  private readonly env: TerminalStreams["env"];
  private flags: GlobalFlags = {};
  private readonly closers: (() => Promise<void>)[] = [];
  private lastLimits: RateLimits | undefined;
  private sentCount = 0;
  private isTableExpected = false;
  private openedProfiles: Promise<ProfileStore> | undefined;
  private resolvedProfile: Promise<ResolvedProfile> | undefined;
  private single: Promise<Connection> | undefined;
  /** Serves single requests too, once it is open. */
  private bulk: Promise<Connection> | undefined;

  constructor(streams: TerminalStreams, signal: AbortSignal, clock: Clock = realClock, observer?: Observer) {
    this.env = streams.env;
    this.terminal = new Terminal(streams, isYes(this.env.ACCESSIBLE));
    this.clock = clock;
    this.observer = observer;
    this.signal = signal;
    this.folders = chooseFolders(this.env, this.platform);
    // A program that runs commands in its own process stores its plans in our folders.
    const folders = observer ? [] : Object.values(this.folders);
    this.files = new CommandFiles([
      ...folders,
      ...(this.env.ECM_SUPPRESSIONS ? [this.env.ECM_SUPPRESSIONS] : []),
    ]);
  }

  /** Takes the parsed global flags; called before any command runs. */
  configure(flags: GlobalFlags): void {
    const { terminal } = this;
    this.flags = flags;
    this.settings = readSettings(flags, this.env);
    terminal.quiet = this.settings.quiet;
    if (flags.color === false) terminal.isColored = { out: false, err: false };
    // A bad format is found here, before anything is sent.
    this.output();
  }

  /**
   * The chosen format and columns. What the name of an output file says goes before all but `--output`, with
   * which it must agree.
   * @param fallback replaces the default of a command with one of its own
   * @param text the form of the command's output for people, where it is YAML
   * @throws UsageError for a format, a name or a file that cannot be
   */
  readonly output = (
    options: OutputFileFlags = {},
    fallback?: OutputFormat,
    text: TextForm = "table",
  ): OutputOptions => {
    const { flags, env } = this;
    const { outputFile, bom, safeCells } = options;
    const requested = this.requestedFormat();
    const usual = env.ECM_OUTPUT ? parseFormat(env.ECM_OUTPUT, "ECM_OUTPUT") : fallback;
    const columns = parseColumns(flags.columns);
    const format = requested ?? usual ?? (this.terminal.isStdoutTerminal ? "table" : "tsv");
    this.isTableExpected = format === "table";
    if (outputFile === undefined) return { columns, bom, safeCells, format };
    // Found out here, before anything is sent.
    const form = chooseFileFormat(outputFile, { requested, usual: usual ?? "tsv", text });
    this.files.writes(outputFile, "--output-file");
    // The cells of a workbook are text: nothing in them is run.
    return { columns, bom, safeCells: safeCells && !form.isWorkbook, ...form, outputFile };
  };

  /** What a flag asks for: it must agree with the name of a file, unlike `ECM_OUTPUT`. */
  readonly requestedFormat = (): OutputFormat | undefined => {
    const { json, output } = this.flags;
    const format = output === undefined ? undefined : parseFormat(output, "--output");
    return json ? "json" : format;
  };

  readonly profiles = (): Promise<ProfileStore> => {
    this.openedProfiles ??= import("./config/profiles.ts").then(({ openProfiles }) =>
      openProfiles(this.folders),
    );
    return this.openedProfiles;
  };

  /** The profile that is meant: its address, structure, and where each came from. No key is asked for. */
  profile(): Promise<ResolvedProfile> {
    const canAsk = () => this.terminal.isStdinTerminal && !this.settings.noInput;
    this.resolvedProfile ??= import("./config/resolve.ts").then(({ resolveProfile }) =>
      resolveProfile(this.settings, this.profiles, this.env, canAsk),
    );
    return this.resolvedProfile;
  }

  /**
   * Opens the profile's account, once for each purpose.
   * @param purpose `bulk` for thousands of requests, over up to `connections` sockets
   */
  connect(purpose: Purpose["kind"] = "single", connections?: number): Promise<Connection> {
    const open = this.bulk ?? (purpose === "single" ? this.single : undefined);
    if (open) return open;
    const opened = this.profile().then((profile) => this.open(profile, { kind: purpose, connections }));
    if (purpose === "bulk") this.bulk = opened;
    else this.single = opened;
    return opened;
  }

  /** Opens an account, also another than the one that is meant: a profile that is being made. */
  async open(profile: ResolvedProfile, purpose: Purpose = { kind: "single" }): Promise<Connection> {
    const { openConnection } = await import("./connection.ts");
    const { connection, close } = await openConnection(profile, purpose, this, {
      onSent: () => {
        if (this.sentCount++ === 0 && this.isTableExpected) loadTableMeanwhile();
      },
      onLimits: (seen) => {
        this.lastLimits = mergeLimits(this.lastLimits, seen);
      },
    });
    this.closers.push(close);
    return connection;
  }

  /** Erases people from the files of the embedded service. @returns how many files held one of the keys */
  async eraseFromSandbox(
    keys: readonly string[],
    mask: (text: string) => string | undefined,
  ): Promise<number> {
    const { eraseFromSandboxFiles } = await import("./connection.ts");
    return eraseFromSandboxFiles(this.folders, keys, mask);
  }

  /**
   * Announces to other processes, until the command ends, that it works with people's data of the account.
   */
  async tellUnderWay(activity: Omit<Activity, "account">): Promise<void> {
    const { accountAddress: account } = await this.profile();
    const { registerActivity } = await import("./disk/activities.ts");
    this.closers.push(await registerActivity(this.folders.state, { ...activity, account }));
  }

  /** Undefined when nothing may be asked. */
  prompter(): Prompter | undefined {
    const { terminal } = this;
    return canPrompt(terminal, this.settings.noInput) ? createPrompter(terminal, this.signal) : undefined;
  }

  /**
   * Before a request is spent on what `confirm` would refuse.
   * @throws UsageError where nobody can be asked
   */
  requireConfirmable(): void {
    if (!this.settings.yes && !this.prompter())
      throw cannotAskError(this.terminal, "This must be confirmed", "Confirm with --yes");
  }

  /**
   * Has a destructive step confirmed: `--yes`, or a person's yes.
   * @param question may be made only when somebody is asked
   * @throws UsageError where nobody can be asked; DeclinedError on a no
   */
  async confirm(question: string | (() => Promise<string>)): Promise<void> {
    if (this.settings.yes) return;
    this.requireConfirmable();
    if (await this.prompter()!.confirm(typeof question === "string" ? question : await question())) return;
    throw declinedError();
  }

  /** Ends the command with this code although nothing is thrown (3: rejected rows; 9: differs). */
  endWith(exitCode: number): void {
    this.exitCode = exitCode;
  }

  /** The limits, from the last answers; undefined when the service was not reached. */
  readonly limits = () => this.lastLimits;

  /** How many requests have left the machine for this command. */
  readonly requestsSent = () => this.sentCount;

  /** Closes what was opened. */
  async close(): Promise<void> {
    for (const close of this.closers.splice(0)) await close();
  }
}

/**
 * While the first answer is on its way there is nothing else to do. A failure is thrown where a table is
 * drawn.
 */
function loadTableMeanwhile(): void {
  setImmediate(() => import("./terminal/table.ts").catch(() => {}));
}
