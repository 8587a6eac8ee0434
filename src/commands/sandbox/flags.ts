/** Flags that the sandbox's commands share, and the sandbox that they describe. */
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { SandboxOptions } from "../../sandbox/index.ts";

export interface DataFlag {
  data?: string;
}

export interface StartFlags extends DataFlag {
  host: string;
  port: string;
  hourlyLimit?: string;
  window?: string;
  monthlyLimit?: string;
  blockAfter?: string;
  blockSeconds?: string;
  fault?: string[];
}

export function dataOption(): Option {
  return new Option("--data <dir>", "folder of the sandbox's data (default: that of the profile sandbox)");
}

/** The folder that `--data` names, else the one of the profile `sandbox`. */
export function sandboxFolder(context: Context, flags: DataFlag): string {
  if (flags.data === "") throw new UsageError("--data: the folder has no name", "give a folder: --data DIR");
  return flags.data === undefined ? join(context.folders.state, "sandbox") : resolve(flags.data);
}

export function addStartFlags(command: Command): Command {
  return command
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <number>", "port to listen on; 0 takes a free one", "0")
    .addOption(dataOption())
    .option("--hourly-limit <n>", "requests per window (3600)")
    .option("--window <seconds>", "length of the window (3600)")
    .option("--monthly-limit <n>", "requests per calendar month, UTC (100000)")
    .option("--block-after <n>", "failed authentications that block an address (20)")
    .option("--block-seconds <seconds>", "how long they are counted, and the block lasts (60)")
    .addOption(
      new Option("--fault <spec>", "what goes wrong on purpose; repeatable").argParser(
        (spec: string, before: string[] = []) => [...before, spec],
      ),
    );
}

/** @throws UsageError naming the flag that is no number of its kind */
export function sandboxOptions(
  context: Context,
  flags: StartFlags,
): SandboxOptions & { host: string; port: number } {
  return {
    folder: sandboxFolder(context, flags),
    clock: context.clock,
    host: flags.host,
    port: wholeNumber("--port", flags.port, 0, 65_535)!,
    hourlyLimit: wholeNumber("--hourly-limit", flags.hourlyLimit),
    windowSeconds: wholeNumber("--window", flags.window, 1),
    monthlyLimit: wholeNumber("--monthly-limit", flags.monthlyLimit),
    blockAfter: wholeNumber("--block-after", flags.blockAfter, 1),
    blockSeconds: wholeNumber("--block-seconds", flags.blockSeconds, 1),
    faults: flags.fault,
  };
}

export function wholeNumber(
  flag: string,
  text: string | undefined,
  least = 0,
  most = 1_000_000_000,
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(
    `${flag}: ${JSON.stringify(text)} is not a whole number from ${least} to ${most}`,
    `give one, such as ${flag} ${Math.min(100, most)}`,
  );
}
