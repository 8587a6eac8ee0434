import type { Command } from "@commander-js/extra-typings";
import { isAddressLike } from "../../api/key-spelling.ts";
import { isId } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { exitCodes, usageError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import type { InputFile } from "../../tables/index.ts";
import { describeRowsNote } from "../bulk/words.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents } from "../output/presents.ts";
import {
  addMarkedRowsFlags,
  areKeysAddresses,
  type FileReading,
  readFileFlags,
  requireNoFile,
  withInputFile,
} from "../selection/keys.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { formatKeyCount, requireKeys, suppressedView } from "./view.ts";

export function registerSuppressionsAdd(parent: Command, context: Context): void {
  const { terminal } = context;
  const command = parent
    .command("add")
    .description("suppress keys: import, lists sync and contact create skip them")
    .argument("[key...]", "contact keys, such as email addresses")
    .option(
      "--keys <file>",
      "a file of keys: one per line, or a table that import reads, with a key column; - for standard input",
    );
  const adding = describeCommand(addMarkedRowsFlags(command), {
    isLocal: true,
    examples: [
      "ecm suppressions add ada@example.com",
      "ecm suppressions add --keys bounces.csv --map Recipient=key",
      "ecm suppressions add --keys crm.csv --marked-rows",
    ],
    output: "The keyed hash of each key, and when it was added: { hash, addedAt }. No address is stored.",
    exitCodes: {
      1: "the list cannot be read or written",
      3: "added, but some lines of the file have no valid key",
    },
  });
  adding.action(
    presents(context, { view: suppressedView }, async (typedKeys, flags) => {
      if (flags.keys !== undefined && typedKeys.length > 0) {
        throw usageError("--keys names all keys and cannot be used with others", "Leave out one of the two");
      }
      if (flags.keys === undefined) requireKeys(typedKeys, ecm`suppressions add KEY`);
      const reading = readFileFlags(flags.keys, flags);
      const { keys, remarks, rejected } =
        flags.keys === undefined
          ? await readTypedKeys(context, typedKeys)
          : await readKeysFromFile(context, flags.keys, reading);
      const list = await openSuppressionList(context, { mayBeMissing: true });
      const { entries, added } = await list.add(keys, context.clock.now());
      terminal.note(formatAdded(added, entries.length - added));
      for (const line of [...remarks, ...rejected].slice(0, maxLinesShown)) terminal.note(line, "needed");
      if (rejected.length > 0) {
        terminal.note(
          `${formatKeyCount(rejected.length)} of the file not added: fix them and add the file again`,
          "needed",
        );
        context.endWith(exitCodes.rejectedRows);
      }
      return { many: entries };
    }),
  );
}

function formatAdded(added: number, alreadyListed: number): string {
  const more = `; ${formatKeyCount(alreadyListed)} ${alreadyListed === 1 ? "was" : "were"} already on it`;
  return `Added ${formatKeyCount(added)} to the suppression list${alreadyListed > 0 ? more : ""}`;
}

const maxLinesShown = 20;

// The keys that `suppressions add` adds: typed ones, or those of a file.

/** Keys that are added, what is to be said of some of them, and what is no key. */
interface KeysToAdd {
  keys: string[];
  remarks: string[];
  rejected: string[];
}

/** The same for keys that are typed and for those of a file. */
async function openKeys(
  context: Context,
): Promise<KeysToAdd & { take(key: string, place: string): Promise<void> }> {
  const { createKeyReader } = await import("../../tables/index.ts");
  const read = createKeyReader("email");
  let areAddresses: Promise<boolean> | undefined;
  const isNoKey = () => {
    areAddresses ??= areKeysAddresses(context);
    return areAddresses;
  };
  const found: KeysToAdd = { keys: [], remarks: [], rejected: [] };
  return {
    ...found,
    async take(key, place) {
      if (isId(key)) {
        found.rejected.push(`${place}${key} is the id of a contact, not a key`);
        return;
      }
      const reading = read(key);
      const isSyntax = "code" in reading && reading.code === "key_syntax";
      const isUnclear = isSyntax && /@.*\s|\s.*@/.test(key.trim());
      const isWrong = isUnclear || (isSyntax && !isAddressLike(key) && (await isNoKey()));
      if ("code" in reading && (isWrong || keylessCodes.has(reading.code))) {
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
async function readTypedKeys(context: Context, typedKeys: string[]): Promise<KeysToAdd> {
  requireNoFile(typedKeys);
  const read = await openKeys(context);
  for (const key of typedKeys) await read.take(key, "");
  const [wrong] = read.rejected;
  if (wrong === undefined) return read;
  throw usageError(`Nothing was added: ${wrong}`, "Name each person by one key, such as ada@example.com");
}

/** @throws UsageError where it is not clear who is meant */
async function readKeysToAdd(
  context: Context,
  input: InputFile,
  { read, rows }: FileReading,
): Promise<KeysToAdd> {
  const { requireUnderstood, surveyInput } = await import("../../tables/index.ts");
  const { chooseRows } = await import("../../bulk/index.ts");
  const { signal } = context;
  const found = await openKeys(context);
  const options = { ...read, takesIds: true };
  const marksChoose = rows !== "all";
  const reading = { ...options, readsConsent: marksChoose, consentChoosesRows: marksChoose };
  const understood = await requireUnderstood("keys", input, reading);
  const survey = await surveyInput(understood, signal, () => {});
  for (const note of survey.notes.filter(({ code }) => code === "unknown_value"))
    context.terminal.note(`warning: ${describeRowsNote(note)}`, "needed");
  await chooseRows("suppress", rows, survey, understood.facts);
  for await (const row of flatten(survey.batches())) {
    const mark = row.kind === "row" ? row : row.mark;
    // Who must never be created again: a cell that is not understood is enough.
    if (rows === "marked" && mark?.notSubscribed === undefined) continue;
    const place = `${input.name}:${row.line}: `;
    if (row.kind === "row") await found.take(row.key.written, place);
    else found.rejected.push(`${place}${row.message}`);
  }
  return found;
}

async function* flatten<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}

function readKeysFromFile(context: Context, file: string, reading: FileReading): Promise<KeysToAdd> {
  return withInputFile(context, file, (input) => readKeysToAdd(context, input, reading));
}
