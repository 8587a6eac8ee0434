/** API keys: what a usable one looks like, how it is shown, and how a key command is run. */
import { once } from "node:events";
import { formatCount } from "../counts.ts";
import { interruptedError, isInterruption, noKeyError, usageError } from "../errors.ts";
import type { Environment } from "./settings.ts";

// The command itself is not repeated: it may hold the key.
const runByHandHint = "Run the profile's key command by hand to see what it prints";
/** Longest output of a key command, in characters. */
const maxOutputCharacters = 10_000;
/** Longest time that a key command may take when no person can answer it, in seconds. */
const maxKeyCommandSeconds = 120;

/**
 * Refuses what cannot stand in a header or can be no key: blanks, control characters, letters beyond ASCII.
 * The service alone knows whether it is valid.
 * @param where the variable, profile or stream that it came from
 * @throws UsageError; the key is not repeated in it
 */
export function checkKey(text: string, where: string): string {
  const key = text.trim();
  if (key === "") throw usageError(`${where}: the API key is empty`, undefined, { type: "ApiKeyError" });
  if (/^[\x21-\x7e]{1,500}$/.test(key)) return key;
  throw usageError(
    `${where}: this is not an API key: it contains blanks or other invalid characters, or is too long`,
    "Copy the key again from the account's API Keys page; it is one line of letters, digits, - and _",
    { type: "ApiKeyError" },
  );
}

/**
 * Whether it has the documented form: 4 characters ending in `_`, region, `_`, 43 characters (Authentication
 * 3).
 */
export function isUsualKey(key: string): boolean {
  return /^[A-Za-z0-9]{3}_[a-z]{2}_[A-Za-z0-9_-]{43}$/.test(key);
}

/** Enough of the key to tell two apart, and no more: prefix, region and the last four characters. */
export function maskKey(key: string): string {
  if (!isUsualKey(key)) return key.length >= 24 ? `…${key.slice(-4)}` : "…";
  return `${key.slice(0, 7)}…${key.slice(-4)}`;
}

/** The region written in the key, such as `us`; undefined when its form is another. */
export function findRegion(key: string): string | undefined {
  return isUsualKey(key) ? key.slice(4, 6) : undefined;
}

/** How a key command runs. */
interface KeyCommandOptions {
  env: Environment;
  /** Whether it gets standard input, to ask for a password; else a file piped to us would be eaten by it. */
  canAsk: boolean;
  signal?: AbortSignal;
  /** How long it may take when no person can be asked. */
  limitSeconds?: number;
}

const lastOutputMilliseconds = 1000;

/**
 * Runs the command in the shell and takes the first line that it prints as the key.
 * @throws NoKeyError when it fails, prints nothing or too much, or does not end; its output is never repeated
 */
export async function runKeyCommand(
  command: string,
  where: string,
  options: KeyCommandOptions,
): Promise<string> {
  const { output, failure } = await readOutput(command, options).catch((error: Error) => {
    const { signal } = options;
    if (signal?.aborted) throw isInterruption(signal.reason) ? signal.reason : interruptedError();
    return { output: "", failure: error.message };
  });
  if (failure) throw noKeyError(`${where}: the key command failed: ${failure}`, runByHandHint);
  const line = output.split(/\r?\n/)[0]?.trim() ?? "";
  if (line !== "") return checkKey(line, where);
  const what = output.trim() === "" ? "nothing" : "an empty first line";
  throw noKeyError(`${where}: the key command printed ${what}`, runByHandHint);
}

/** Until the command ends or prints too much. @throws when the signal fires, or the shell cannot be run */
async function readOutput(
  command: string,
  { env, canAsk, signal, limitSeconds = maxKeyCommandSeconds }: KeyCommandOptions,
): Promise<{ output: string; failure?: string }> {
  const { spawn } = await import("node:child_process");
  const child = spawn(command, {
    shell: true,
    env: { ...env },
    stdio: [canAsk ? "inherit" : "ignore", "pipe", "inherit"],
    signal,
    timeout: canAsk ? undefined : limitSeconds * 1000,
    killSignal: "SIGKILL",
  });
  const stdout = child.stdout!.setEncoding("utf8");
  let output = "";
  stdout.on("data", (text: string) => {
    output += text;
    if (output.length > maxOutputCharacters) child.kill("SIGKILL");
  });
  // What it left running in the background may hold the pipe open; its last output may still be on its way.
  child.on("exit", (code) => {
    if (code !== 0 || output.includes("\n")) stdout.destroy();
    else setTimeout(() => stdout.destroy(), lastOutputMilliseconds).unref();
  });
  const [code, by] = (await once(child, "close")) as [number | null, string | null];
  if (output.length > maxOutputCharacters)
    return { output, failure: `it printed more than ${formatCount(maxOutputCharacters)} characters` };
  if (child.killed) return { output, failure: `it did not end within ${limitSeconds} s` };
  if (code === 0) return { output };
  return { output, failure: by ? `ended by ${by}` : `exit code ${code}` };
}
