import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { isId } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { exitCodes, UsageError } from "../../errors.ts";
import { presentList } from "../../terminal/present.ts";
import type { ContactStructure } from "../../wire.ts";
import { describeCommand } from "../shared/help-text.ts";
import { openSuppressionList } from "../shared/suppression-list.ts";
import { formatKeyCount, requireKeys, suppressedView } from "./shared/view.ts";

interface SuppressionsAddFlags {
  keys?: string;
}

export function registerSuppressionsAdd(parent: Command, context: Context): void {
  const command = parent
    .command("add")
    .description("suppress keys: import, lists sync and contact create skip them")
    .argument("[key...]", "contact keys, such as email addresses")
    .option("--keys <file>", "a file of keys: one per line, or a CSV with a key column; - for standard input")
    .action((keys: string[], flags: SuppressionsAddFlags) => runSuppressionsAdd(context, keys, flags));
  describeCommand(command, {
    takesProfiles: true,
    isLocal: true,
    danger: "mutating",
    examples: ["ecm suppressions add ada@example.com", "ecm suppressions add --keys erased.txt"],
    output: "The keyed hash of each key, and when it was added: { hash, addedAt }. No address is stored.",
    exitCodes: {
      1: "the list cannot be read or written",
      3: "added, but some lines of the file have no valid key",
    },
  });
}

async function runSuppressionsAdd(
  context: Context,
  typedKeys: string[],
  flags: SuppressionsAddFlags,
): Promise<void> {
  const { terminal } = context;
  if (flags.keys !== undefined && typedKeys.length > 0) {
    throw new UsageError("--keys names all keys and cannot be used with others", "Leave out one of the two");
  }
  const output = context.output();
  if (flags.keys === undefined) requireKeys(typedKeys, "ecm suppressions add KEY");
  const { keys, remarks, rejected } =
    flags.keys === undefined ? await readTypedKeys(typedKeys) : await readKeysFromFile(context, flags.keys);
  const list = await openSuppressionList(context, { mayBeMissing: true });
  const { entries, added } = await list.add(keys, context.clock.now());
  const alreadyListed = entries.length - added;
  terminal.note(
    `Added ${formatKeyCount(added)} to the suppression list${alreadyListed > 0 ? `; ${formatKeyCount(alreadyListed)} ${alreadyListed === 1 ? "was" : "were"} already on it` : ""}`,
  );
  for (const line of [...remarks, ...rejected].slice(0, maxLinesShown)) terminal.note(line, "needed");
  if (rejected.length > 0) {
    terminal.note(
      `${formatKeyCount(rejected.length)} of the file not added: fix them and add the file again`,
      "needed",
    );
    context.endWith(exitCodes.rejectedRows);
  }
  await presentList(terminal, output, entries, suppressedView);
}

const maxLinesShown = 20;

/** Keys that are added, what is to be said of some of them, and what is no key. */
interface KeysToAdd {
  keys: string[];
  remarks: string[];
  rejected: string[];
}

/** The same for keys that are typed and for those of a file. */
async function openKeys(): Promise<KeysToAdd & { take(key: string, place: string): void }> {
  const { createKeyReader } = await import("../../bulk/index.ts");
  const read = createKeyReader("email");
  const found: KeysToAdd = { keys: [], remarks: [], rejected: [] };
  return {
    ...found,
    take(key, place) {
      if (isId(key)) {
        found.rejected.push(`${place}${key} is the id of a contact, not a key`);
        return;
      }
      const reading = read(key);
      const isSyntax = "code" in reading && reading.code === "key_syntax";
      const isUnclear = isSyntax && /@.*\s|\s.*@/.test(key.trim());
      if ("code" in reading && (isUnclear || keylessCodes.has(reading.code))) {
        found.rejected.push(`${place}${reading.message}`);
        return;
      }
      found.keys.push(key);
      if (isSyntax)
        found.remarks.push(`${place}${JSON.stringify(key)} is not an email address; added as it is`);
    },
  };
}

/** Other keys that are no address for an import may be held by an account all the same. */
const keylessCodes: ReadonlySet<string> = new Set([
  "key_missing",
  "key_placeholder",
  "key_several_addresses",
  "key_invisible_character",
]);

/** @throws UsageError when one of them is no key: then none is added */
async function readTypedKeys(typedKeys: string[]): Promise<KeysToAdd> {
  const read = await openKeys();
  for (const key of typedKeys) read.take(key, "");
  const [wrong] = read.rejected;
  if (wrong === undefined) return read;
  throw new UsageError(`Nothing was added: ${wrong}`, "Name each person by one key, such as ada@example.com");
}

/** Which column holds the keys is found as for contacts whose keys are addresses. */
const placeholderStructure: ContactStructure = {
  _id: "",
  label: "",
  keyName: "Email",
  keyType: "email",
  fields: [],
  tags: [],
};

async function readKeysFromFile(context: Context, file: string): Promise<KeysToAdd> {
  const [{ readRows, understandKeys, spool, openStream }, { randomBytes }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("node:crypto"),
  ]);
  const stream = file === "-" ? context.terminal.stdin : await openStream(file, context.signal);
  const path = stream ? join(tmpdir(), `ecm-keys-${randomBytes(6).toString("hex")}`) : file;
  const scratch = join(tmpdir(), `ecm-unpacked-${randomBytes(6).toString("hex")}`);
  const name = file === "-" ? "standard input" : file;
  try {
    if (stream) await spool(stream, name, path, context.signal);
    const read = await openKeys();
    const options = { map: new Map<string, string>(), takesIds: true };
    const understood = await understandKeys({ path, name, scratch }, options, placeholderStructure);
    for await (const row of readRows(understood)) {
      const place = `${name}:${row.line}: `;
      if (row.kind === "row") read.take(row.key.written, place);
      else read.rejected.push(`${place}${row.message}`);
    }
    return read;
  } finally {
    if (stream) await rm(path, { force: true });
    await rm(scratch, { recursive: true, force: true });
  }
}
