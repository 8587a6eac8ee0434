/** Flags that the sandbox's commands share, and the sandbox that they describe. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { EcmError, notFoundError, usageError } from "../../errors.ts";
import { advise, ecm, mapCommands, type ShownCommand } from "../../hint.ts";
import type { SandboxAdmin } from "../../sandbox/admin.ts";
import type { Sandbox, SandboxOptions } from "../../sandbox/index.ts";
import type { LoggedRequest, RequestQuery } from "../../sandbox/public-types.ts";
import { type Bare, type FlagsOf, repeatableOption, wholeNumberOption } from "../flags/flags.ts";
import { type CommandFacts, describeCommand } from "../help/help-text.ts";

export interface DataFlag {
  data?: string;
}

export type StartFlags = FlagsOf<ReturnType<typeof addStartFlags<[], Bare, Bare>>>;

export function dataOption() {
  return new Option("--data <dir>", "folder for the sandbox's data (default: that of the profile sandbox)");
}

interface LocalVerb extends Omit<CommandFacts, "isLocal"> {
  name: string;
  description: string;
  /** Where the group is typed alone. */
  isDefault?: boolean;
}

/** A verb on the sandbox's folder, whose sandbox may be running: it sends no request. */
export function addLocalVerb(parent: Command, { name, description, isDefault = false, ...facts }: LocalVerb) {
  const command = parent.command(name, { isDefault }).description(description).addOption(dataOption());
  return describeCommand(command, { ...facts, isLocal: true });
}

/** The folder that `--data` names, else the one of the profile `sandbox`. */
export function chooseSandboxFolder(context: Context, flags: DataFlag): string {
  if (flags.data === "") throw usageError("--data: the folder has no name", "Give a folder: --data DIR");
  return flags.data === undefined ? join(context.folders.state, "sandbox") : resolve(flags.data);
}

export function addStartFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return command
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addOption(wholeNumberOption("--port <number>", "port to listen on; 0 picks a free one", 0).default(0))
    .addOption(dataOption().conflicts("temporary"))
    .option("--temporary", "use an empty folder for the data, and remove it at the end")
    .addOption(wholeNumberOption("--hourly-limit <n>", "requests per window (3600)", 0))
    .addOption(wholeNumberOption("--window <seconds>", "length of the window (3600)"))
    .addOption(
      wholeNumberOption(
        "--monthly-limit <n>",
        "requests per calendar month, UTC (as set before, else 100000)",
        0,
      ),
    )
    .addOption(wholeNumberOption("--block-after <n>", "failed authentications that block an address (20)"))
    .addOption(
      wholeNumberOption("--block-seconds <n>", "how long failures count, and how long a block lasts (60)"),
    )
    .addOption(regionOption())
    .addOption(
      wholeNumberOption("--seed <n>", "make ids reproducible, in a new folder and after each reset", 0),
    )
    .option("--admin-token <token>", "answer /__sandbox/ from other machines, if they send this token")
    .addOption(
      repeatableOption("--fault <spec>", "simulate a failure, such as 503:*:*:p=0.1; see: ecm help faults"),
    )
    .addOption(
      repeatableOption(
        "--variant <name=value>",
        "how to behave where the documentation does not say; see: ecm sandbox variants",
      ),
    );
}

function regionOption() {
  return new Option("--region <letters>", "region in new keys (us)").argParser((text: string) => {
    if (/^[a-z]{2}$/.test(text)) return text;
    throw usageError(`--region: ${JSON.stringify(text)} is not a region`, "Give two letters, such as jp");
  });
}

/**
 * Opens the sandbox that the flags describe, uses it and closes it.
 * @throws UsageError for a bad variant or token
 */
export async function withSandbox(
  context: Context,
  flags: StartFlags,
  use: (sandbox: Sandbox) => Promise<void>,
): Promise<void> {
  const { openSandbox } = await import("../../sandbox/index.ts");
  const { makeTemporaryFolder } = await import("../../sandbox/temporary-folder.ts");
  const options = await toSandboxOptions(context, flags);
  const temporary = flags.temporary ? await makeTemporaryFolder() : undefined;
  try {
    const folder = temporary?.path ?? chooseSandboxFolder(context, flags);
    const sandbox = await openSandbox({ ...options, folder });
    try {
      await use(sandbox);
    } finally {
      sandbox.close();
    }
  } finally {
    temporary?.remove();
  }
}

async function toSandboxOptions(
  context: Context,
  { data: _data, host: _host, port: _port, temporary: _temporary, ...flags }: StartFlags,
): Promise<Omit<SandboxOptions, "folder">> {
  const { splitVariant } = await import("../../sandbox/variants.ts");
  const { window, fault, variant = [], ...named } = flags;
  return {
    ...named,
    clock: context.clock,
    windowSeconds: window,
    apiKey: context.terminal.env.ECM_SANDBOX_API_KEY || undefined,
    adminToken: chooseAdminToken(context, flags.adminToken),
    faults: fault,
    variants: Object.fromEntries(variant.map(splitVariant)),
  };
}

function chooseAdminToken({ terminal }: Context, typed: string | undefined): string | undefined {
  const token = typed ?? (terminal.env.ECM_SANDBOX_ADMIN_TOKEN || undefined);
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  throw usageError(
    "--admin-token: a token consists of ASCII characters without spaces",
    "Such as --admin-token s3cret",
  );
}

/** Says on stderr that a served sandbox is open to other machines. */
export function warnIfReachable(
  context: Context,
  { host }: StartFlags,
  { isLoopback }: { isLoopback: boolean },
): void {
  if (isLoopback) return;
  context.terminal.warn(`The sandbox listens on ${host}: other machines can reach it, without encryption`);
}

/**
 * As `withAdmin`, for what only makes sense of a sandbox that is there: a new folder would answer that it has
 * nothing.
 * @throws UsageError where nothing is at `--data`
 */
export function withExistingAdmin<T>(
  context: Context,
  flags: DataFlag,
  act: (admin: SandboxAdmin) => T | Promise<T>,
): Promise<T> {
  if (flags.data !== undefined && !existsSync(chooseSandboxFolder(context, flags))) {
    throw usageError(`--data: there is no folder ${JSON.stringify(flags.data)}`, "Check the path");
  }
  return withAdmin(context, flags, act);
}

/** Opens the admin of the sandbox's folder, acts, and closes it again. */
export async function withAdmin<T>(
  context: Context,
  flags: DataFlag,
  act: (admin: SandboxAdmin) => T | Promise<T>,
): Promise<T> {
  const { openSandbox } = await import("../../sandbox/index.ts");
  const folder = chooseSandboxFolder(context, flags);
  const { admin, close } = await openSandbox({ folder, clock: context.clock });
  try {
    return await act(admin);
  } catch (error) {
    throw explainSameFolder(await toCommandError(error), flags);
  } finally {
    close();
  }
}

/** The commands that a hint shows, for the sandbox of the command before it. */
function explainSameFolder(error: unknown, { data }: DataFlag): unknown {
  if (error instanceof EcmError && data !== undefined) {
    const { hint } = error.details;
    error.details.hint = hint && mapCommands(hint, (command) => addDataFlag(command, data));
  }
  return error;
}

function addDataFlag(command: ShownCommand, data: string): ShownCommand {
  const isOfSandbox = command.words[0] === "sandbox" && ["keys", "snapshot"].includes(command.words[1] ?? "");
  return isOfSandbox ? { words: [...command.words, "--data", data] } : command;
}

/** A refusal of the sandbox as an error of the command; what is not found is a snapshot. */
async function toCommandError(error: unknown): Promise<unknown> {
  const { Refusal } = await import("../../sandbox/rules/refusal.ts");
  if (!(error instanceof Refusal)) return error;
  const { message, status } = error;
  if (status !== 404) return usageError(message);
  return notFoundError(message, advise`See them with: ${ecm`sandbox snapshot list`}`);
}

// The requests that a sandbox answers, one by one as it answers them.

const pollMilliseconds = 100;
const maxAtOnce = 1000;

/**
 * With `since` or `limit` the matching requests that are there already; then each further one, also when the
 * log is cleared.
 * @throws the signal's reason
 */
export async function* followRequests(
  { clock, signal }: Context,
  admin: SandboxAdmin,
  { limit, ...query }: RequestQuery,
): AsyncGenerator<LoggedRequest> {
  const newest = limit === undefined ? [] : admin.requests({ ...query, limit });
  yield* newest;
  const next = admin.requests.follow({ ...query, since: newest.at(-1)?.n ?? query.since });
  for (;;) {
    const requests = next(maxAtOnce);
    yield* requests;
    if (requests.length < maxAtOnce) await clock.sleep(pollMilliseconds, signal);
  }
}
