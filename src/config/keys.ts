/** API keys: what a usable one looks like, how it is shown, and how a key command is run. */
import { spawn } from "node:child_process";
import { InterruptedError, NoKeyError, UsageError } from "../errors.ts";
import type { Environment } from "./settings.ts";

// The command itself is not repeated: it may hold the key.
const seeForYourself = "run the profile's key command by hand to see what it says";
/** Longest output of a key command that is looked at, in characters. */
const longestOutput = 10_000;

/**
 * Refuses what cannot stand in a header or can be no key: blanks, control characters, letters beyond ASCII.
 * The service alone knows whether it is valid.
 * @param where the variable, profile or stream that it came from
 * @throws UsageError; the key is not repeated in it
 */
export function checkKey(text: string, where: string): string {
  const key = text.trim();
  if (key === "") throw new UsageError(`${where}: the API key is empty`, undefined, { type: "ApiKeyError" });
  if (/^[\x21-\x7e]{1,500}$/.test(key)) return key;
  throw new UsageError(
    `${where}: this is no API key: it holds blanks, control characters or letters that no key has, or is too long`,
    "copy the key again from the account's settings; it is one line of letters, digits, - and _",
    { type: "ApiKeyError" },
  );
}

/** Whether it has the documented form: 4 characters ending in `_`, region, `_`, 43 characters (Authentication 3). */
export function isUsualKey(key: string): boolean {
  return /^[A-Za-z0-9]{3}_[a-z]{2}_[A-Za-z0-9_-]{43}$/.test(key);
}

/** Enough of the key to tell two apart, and no more: prefix, region and the last four characters. */
export function maskKey(key: string): string {
  if (!isUsualKey(key)) return key.length >= 24 ? `…${key.slice(-4)}` : "…";
  return `${key.slice(0, 7)}…${key.slice(-4)}`;
}

/** The region written in the key, such as `us`; undefined when its form is another. */
export function regionOf(key: string): string | undefined {
  return isUsualKey(key) ? key.slice(4, 6) : undefined;
}

/**
 * Runs the command in the shell and takes the first line that it prints as the key.
 * @param canAsk whether it gets standard input, to ask for a password; else a file piped to us would be eaten by it
 * @throws NoKeyError when it fails or prints nothing; its output is never repeated
 */
export async function runKeyCommand(
  command: string,
  env: Environment,
  where: string,
  canAsk: boolean,
  signal?: AbortSignal,
): Promise<string> {
  const { output, failure } = await new Promise<{ output: string; failure?: string }>((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      env: { ...env },
      stdio: [canAsk ? "inherit" : "ignore", "pipe", "inherit"],
      signal,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (output.length < longestOutput) output += text;
    });
    child.on("error", (error) => {
      if (signal?.aborted) {
        reject(signal.reason instanceof InterruptedError ? signal.reason : new InterruptedError());
      } else resolve({ output, failure: error.message });
    });
    child.on("close", (code, by) => {
      resolve({ output, failure: code === 0 ? undefined : by ? `ended by ${by}` : `exit code ${code}` });
    });
  });
  if (failure) throw new NoKeyError(`${where}: the key command failed: ${failure}`, seeForYourself);
  const line = output.split(/\r?\n/)[0]?.trim() ?? "";
  if (line === "") throw new NoKeyError(`${where}: the key command printed nothing`, seeForYourself);
  return checkKey(line, where);
}
