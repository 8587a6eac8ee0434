/** The one rule for a word that is typed as a contact's key, for every command that takes keys. */

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import { isAddressLike, listSpellings, toPersonIdentity } from "../../api/key-spelling.ts";
import { isId } from "../../api/names.ts";
import { isEmailKey } from "../../api/structures.ts";
import type { ChosenRows } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { createRandomName } from "../../disk/atomic-file.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import { EcmError, usageError } from "../../errors.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import type { LocalCondition } from "../../service/contact-search.ts";
import type { InputFile, ReadOptions } from "../../tables/index.ts";
import type { ContactStructure } from "../../wire.ts";
import { addTableFlags, type TableFlags, toReadOptions } from "../flags/flags.ts";

/**
 * The name of a file is no key: nobody is looked for, changed or suppressed under it.
 * @throws UsageError before a request
 */
export function requireNoFile(words: readonly string[]): void {
  const file = words.find((word) => !isAddressLike(word) && word.trim() !== "" && existsSync(word));
  if (file === undefined) return;
  throw usageError(
    `${JSON.stringify(file)} is a file, not the key of a contact`,
    "For the keys in it: --keys FILE",
  );
}

/** @throws UsageError where both a file and words name contacts */
export function requireOneSource(keysFile: string | undefined, words: readonly string[]): void {
  if (keysFile === undefined || words.length === 0) return;
  throw usageError(
    "--keys names every contact and cannot be used with other keys",
    "Leave out one of the two",
  );
}

/**
 * For commands that remember a key, or delete what has it: where the account's keys are addresses, nothing
 * else is one. The account is asked only for a word that is no address.
 * @throws UsageError
 */
export async function requireAddresses(context: Context, words: readonly string[]): Promise<void> {
  requireNoFile(words);
  const other = words.find((word) => !isAddressLike(word));
  if (other === undefined || !(await areKeysAddresses(context))) return;
  throw usageError(
    `${JSON.stringify(other)} is not an email address, and the account's keys are email addresses`,
    "Name each person by their address, such as ada@example.com",
  );
}

/** True too where the account cannot be asked: most are so. */
export async function areKeysAddresses(context: Context): Promise<boolean> {
  try {
    const { account } = await context.connect();
    const { keyType } = await account.withRemembered("read", () => account.structure());
    return isEmailKey(keyType);
  } catch (error) {
    if (error instanceof EcmError) return true;
    throw error;
  }
}

// People as they are named for an erasure or a dossier: by their keys, which may be spelled in several ways.

/** Each person once, in the spellings that the account may hold. @throws UsageError */
export async function readPeople(context: Context, typedKeys: string[], usage: Hint): Promise<string[][]> {
  if (typedKeys.length === 0) throw usageError("The contact's key is missing", advise`Name it: ${usage}`);
  await requireAddresses(context, typedKeys);
  const people = new Map<string, string[]>();
  for (const word of typedKeys) {
    const key = word.trim();
    if (key.length < 3 || isId(key)) {
      throw usageError(
        `${JSON.stringify(word)} is not the key of a contact`,
        advise`Name the contact by its key, such as an email address. To see the key: ${ecm`contact get ID`}`,
      );
    }
    people.set(toPersonIdentity(key), listSpellings(key));
  }
  return [...people.values()];
}

// A file that a command reads whole before it does anything.

/**
 * Standard input and pipes are copied first: they can be read only once.
 * @param file `-` for standard input
 * @throws UsageError when they cannot be read; what `use` throws
 */
export async function withInputFile<T>(
  { terminal, signal, files }: Context,
  file: string,
  use: (input: InputFile) => Promise<T>,
): Promise<T> {
  const { openStream, spool } = await import("../../tables/index.ts");
  if (file !== "-") files.reads(file, "the input file");
  const name = file === "-" ? "standard input" : file;
  const scratch = join(tmpdir(), `ecm-input-${createRandomName()}`);
  try {
    const stream = file === "-" ? terminal.stdin : await openStream(resolve(file), signal);
    if (!stream) return await use({ path: resolve(file), name, scratch, signal });
    makeFolder(scratch);
    const path = join(scratch, "input");
    await spool(stream, name, path, signal);
    return await use({ path, name, scratch, signal });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

// For a command that takes every row of a file: which rows its marks choose, and how its columns are read.

export function addMarkedRowsFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return addTableFlags(command)
    .addOption(
      new Option(
        "--marked-rows",
        "with --keys: only the rows that the file marks as not subscribed",
      ).conflicts("allRows"),
    )
    .option("--all-rows", "with --keys: every row, also where the file marks only some as not subscribed");
}

/** How the file of `--keys` is read. */
export interface FileReading {
  read: ReadOptions;
  rows?: ChosenRows;
}

/**
 * @param keys the file of `--keys`
 * @throws UsageError for flags about a file where there is none
 */
export function readFileFlags(
  keys: string | undefined,
  flags: TableFlags & { markedRows?: true; allRows?: true; includeUnsubscribed?: true },
): FileReading {
  const { markedRows, allRows, includeUnsubscribed, header } = flags;
  const { map, consentColumn, from, sheet, delimiter, encoding, skipLines } = flags;
  const noHeader = header === false ? true : undefined;
  const ofRows = { markedRows, allRows, includeUnsubscribed };
  const given = { ...ofRows, map, consentColumn, from, sheet, delimiter, encoding, skipLines, noHeader };
  const [first] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (keys === undefined && first !== undefined) {
    const flag = `--${first.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    throw usageError(
      `${flag} applies to the file given with --keys`,
      "Name the file with --keys, or leave it out",
    );
  }
  return { read: toReadOptions(flags), rows: allRows ? "all" : markedRows ? "marked" : undefined };
}

// A file that names contacts, for commands that only read: keys or ids, one on each line, or a CSV.

export interface KeysFileCondition {
  /** Keys that the service is asked for. */
  keys?: string[];
  /** Decided here, where ids are among them, or none at all. */
  condition?: LocalCondition;
}

/** How many lines that are neither keys nor ids are named. */
const maxRemarksShown = 5;

/**
 * Opens the file before a request is spent; its contacts are known once the structure is.
 * @param read how it is read
 * @param use reads it before it ends
 * @throws UsageError for a file that cannot be read
 */
export function withKeysFile<T>(
  context: Context,
  file: string,
  read: ReadOptions,
  use: (keysFile: (structure: ContactStructure) => Promise<KeysFileCondition>) => Promise<T>,
): Promise<T> {
  return withInputFile(context, file, async (input) => {
    const { openClearInput, requireUnderstood, readRows } = await import("../../tables/index.ts");
    const options = { ...read, takesIds: true };
    const opened = await openClearInput("keys", input, options);
    return use(async (structure) => {
      const understood = await requireUnderstood("keys", opened, options, structure);
      return toKeysFileCondition(context, readRows(understood), input.name, structure);
    });
  });
}

async function toKeysFileCondition(
  context: Context,
  rows: ReturnType<typeof import("../../tables/index.ts").readRows>,
  name: string,
  structure: ContactStructure,
): Promise<KeysFileCondition> {
  const { createIdentityReader } = await import("../../tables/index.ts");
  const keys = new Set<string>();
  const identities = new Set<string>();
  const wrong: string[] = [];
  let hasIds = false;
  for await (const row of rows) {
    if (row.kind === "rejected") {
      wrong.push(`${name}:${row.line}: ${row.message}`);
      continue;
    }
    if (row.keyFault) wrong.push(`${name}:${row.line}: ${row.keyFault.message}`);
    identities.add(row.key.identity);
    keys.add(row.key.written);
    hasIds ||= isId(row.key.written);
  }
  // What is no key of an import is said; it is looked for all the same, since the account may hold it.
  for (const line of wrong.slice(0, maxRemarksShown)) context.terminal.warn(line);
  if (wrong.length > maxRemarksShown)
    context.terminal.warn(`${wrong.length - maxRemarksShown} more lines like these`);
  if (!hasIds && keys.size > 0) return { keys: [...keys] };
  const toIdentity = createIdentityReader(structure.keyType);
  return {
    condition: {
      needs: ["_id", "key"],
      holds: ({ _id = "", key = "" }) => identities.has(_id.toLowerCase()) || identities.has(toIdentity(key)),
    },
  };
}
