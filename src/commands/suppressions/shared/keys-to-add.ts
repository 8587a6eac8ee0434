/** The keys that `suppressions add` adds: typed ones, or those of a file. */

import { isAddressLike } from "../../../api/key-spelling.ts";
import { isId } from "../../../api/names.ts";
import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors.ts";
import type { InputFile } from "../../../tables/index.ts";
import { describeRowsNote } from "../../bulk/words.ts";
import {
  areKeysAddresses,
  type MarkedRowsReading,
  requireNoFile,
  withInputFile,
} from "../../selection/keys.ts";

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
  const { createKeyReader } = await import("../../../tables/index.ts");
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
export async function readTypedKeys(context: Context, typedKeys: string[]): Promise<KeysToAdd> {
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
  { read, rows }: MarkedRowsReading,
): Promise<KeysToAdd> {
  const { requireUnderstood, surveyInput } = await import("../../../tables/index.ts");
  const { chooseRows, toReadOptions } = await import("../../../bulk/index.ts");
  const { signal } = context;
  const found = await openKeys(context);
  const options = { ...toReadOptions(read), takesIds: true };
  const marksChoose = rows !== "all";
  const reading = { ...options, readsConsent: marksChoose, consentChoosesRows: marksChoose };
  const understood = await requireUnderstood("keys", input, reading);
  const survey = await surveyInput(understood, signal, () => {});
  for (const note of survey.unknownCells)
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

export function readKeysFromFile(
  context: Context,
  file: string,
  reading: MarkedRowsReading,
): Promise<KeysToAdd> {
  return withInputFile(context, file, (input) => readKeysToAdd(context, input, reading));
}
