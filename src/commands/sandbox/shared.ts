/** What the commands of the sandbox share: flags, access to its data, and serving it. */
import { join, resolve } from "node:path";
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { EcmError, notFoundError, usageError } from "../../errors.ts";
import { advise, ecm, mapCommands } from "../../hint.ts";
import type { SandboxAdmin } from "../../sandbox/admin.ts";
import type { Sandbox } from "../../sandbox/index.ts";
import type { LoggedRequest, RequestQuery } from "../../sandbox/public-types.ts";
import type { View } from "../../terminal/present.ts";
import { type Bare, type FlagsOf, repeatableOption, wholeNumberOption } from "../flags/flags.ts";
import type { CommandFacts } from "../help/help-text.ts";
import { verb } from "../verb.ts";

export interface DataFlag {
  data?: string;
}

type StartFlags = FlagsOf<ReturnType<typeof addStartFlags<[], Bare, Bare>>>;

function dataOption() {
  return new Option("--data <dir>", "folder for the sandbox's data (default: that of the profile sandbox)");
}

/** The folder that `--data` names; without the flag that of the profile `sandbox`. */
export function chooseSandboxFolder(context: Context, flags: DataFlag): string {
  return flags.data === undefined ? join(context.folders.state, "sandbox") : resolve(flags.data);
}

// Commands on the sandbox's folder. They send no request, and work while the sandbox is running too.

/** @param isDefault whether the command runs where its group is typed alone */
export function declareLocal(parent: Command, name: string, description: string, isDefault = false) {
  return parent.command(name, { isDefault }).description(description).addOption(dataOption());
}

type Shown<T> = T | T[] | undefined;

interface LocalVerb<A extends unknown[], O, T> extends CommandFacts {
  view: View<T>;
  act(admin: SandboxAdmin, ...args: [...A, O]): Shown<T> | Promise<Shown<T>>;
}

export function localVerb<
  A extends unknown[],
  O extends OptionValues,
  G extends OptionValues,
  T extends object,
>(context: Context, command: Command<A, O, G>, { act, ...declared }: LocalVerb<A, O & G, T>): void {
  verb(context, command, {
    ...declared,
    isLocal: true,
    async run(...args) {
      const given = args.slice(0, -1) as [...A, O & G];
      const shown = await withAdmin(context, given.at(-1) as O & DataFlag, (admin) => act(admin, ...given));
      if (Array.isArray(shown)) return { many: shown as T[] };
      return shown && { one: shown };
    },
  });
}

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
    throw await toCommandError(error, flags);
  } finally {
    close();
  }
}

/** Turns an error of the sandbox into one of the command; commands in its hint get the same `--data`. */
async function toCommandError(error: unknown, { data }: DataFlag): Promise<unknown> {
  const { Refusal } = await import("../../sandbox/rules/refusal.ts");
  const explained = error instanceof Refusal ? explainRefusal(error) : error;
  if (explained instanceof EcmError && explained.details.hint !== undefined && data !== undefined) {
    explained.details.hint = mapCommands(explained.details.hint, ({ words }) => ({
      words: [...words, "--data", data],
    }));
  }
  return explained;
}

/** Only snapshots can be missing here (404). */
function explainRefusal({ message, status }: { message: string; status: number }): EcmError {
  if (status !== 404) return usageError(message);
  return notFoundError(message, advise`See them with: ${ecm`sandbox snapshot list`}`);
}

// A sandbox behind a port.

export function addStartFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return command
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addOption(wholeNumberOption("--port <number>", "port to listen on; 0 picks a free one", 0).default(0))
    .addOption(dataOption().conflicts("temporary"))
    .option("--temporary", "keep the data in memory: it goes at the end")
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

/** Serves it until `use` is done. @throws UsageError for a bad variant, or a port that is in use */
export async function whileServing(
  context: Context,
  { data, host, port, temporary, window, fault, variant = [], adminToken, ...named }: StartFlags,
  use: (sandbox: Sandbox, baseUrl: string) => Promise<void>,
): Promise<void> {
  const { openSandbox } = await import("../../sandbox/index.ts");
  const { splitVariant } = await import("../../sandbox/variants.ts");
  const { env, warn } = context.terminal;
  const variants = Object.fromEntries(variant.map(splitVariant));
  const sandbox = await openSandbox({
    ...named,
    ...{ clock: context.clock, windowSeconds: window, faults: fault, variants },
    folder: temporary ? undefined : chooseSandboxFolder(context, { data }),
    apiKey: env.ECM_SANDBOX_API_KEY || undefined,
    adminToken: adminToken ?? (env.ECM_SANDBOX_ADMIN_TOKEN || undefined),
  });
  try {
    const server = await sandbox.serve({ host, port });
    if (!server.isLoopback)
      warn(`The sandbox listens on ${host}: other machines can reach it, without encryption`);
    await use(sandbox, server.baseUrl).finally(() => server.close());
  } finally {
    sandbox.close();
  }
}

// The log of requests, as it grows.

const pollMilliseconds = 100;
const maxAtOnce = 1000;

/**
 * Yields each further request that matches, also after the log was cleared; with `since` or `limit` first
 * those that are logged already.
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
