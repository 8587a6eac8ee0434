import type { Command } from "@commander-js/extra-typings";
import { isAddressLike } from "../../api/key-spelling.ts";
import { isId } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { exitCodes, usageError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import type { InputFile } from "../../tables/index.ts";
import { describeRowsNote } from "../bulk/words.ts";
import {
  addMarkedRowsFlags,
  areKeysAddresses,
  type FileReading,
  readFileFlags,
  requireNoFile,
  requireOneSource,
  withInputFile,
} from "../selection/keys.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { requireKeys, suppressedView, withoutAccount } from "./view.ts";

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
  verb(context, addMarkedRowsFlags(command), {
    isLocal: true,
    examples: [
      "ecm suppressions add ada@example.com",
      "ecm suppressions add --keys bounces.csv --map Recipient=key",
      "ecm suppressions add --keys crm.csv --marked-rows",
    ],
    output: "The keyed hash of each key, and when it was added: { hash, addedAt }. No address is stored.",
    exitCodes: { 3: "added, but some lines of the file have no valid key", ...withoutAccount },
    view: suppressedView,
    async run(typedKeys, flags) {
      requireOneSource(flags.keys, typedKeys);
      const { keys: file } = flags;
      if (file === undefined) requireKeys(typedKeys, ecm`suppressions add KEY`);
      const reading = readFileFlags(file, flags);
      const { keys, rejected } = await (file === undefined
        ? readTypedKeys(context, typedKeys)
        : withInputFile(context, file, (input) => readKeysFromFile(context, input, reading)));
      const list = await openSuppressionList(context, { mayBeMissing: true });
      const { entries, added } = await list.add(keys, context.clock.now());
      const already = entries.length - added;
      const more = already > 0 ? `; already on it: ${formatCount(already)}` : "";
      terminal.note(`Added ${formatCounted(added, "key")} to the suppression list${more}`);
      for (const line of rejected.slice(0, maxLinesShown)) terminal.note(line, "needed");
      if (rejected.length > 0) {
        const count = formatCounted(rejected.length, "key");
        terminal.note(`${count} of the file not added: fix them and add the file again`, "needed");
        context.endWith(exitCodes.rejectedRows);
      }
      return { many: entries };
    },
  });
}

const maxLinesShown = 20;

/** Keys to add, and what is wrong with the others. */
interface KeysToAdd {
  keys: string[];
  rejected: string[];
}

/** What no account can hold as a key; it may hold other keys that an import does not take for addresses. */
const keylessCodes: ReadonlySet<string> = new Set([
  "key_missing",
  "key_placeholder",
  "key_several_addresses",
  "key_invisible_character",
]);

/** Says what is wrong with a key, typed or of a file; undefined for one that an account may hold. */
async function createKeyCheck(context: Context): Promise<(key: string) => Promise<string | undefined>> {
  const { createKeyReader } = await import("../../tables/index.ts");
  const read = createKeyReader("email");
  let areAddresses: Promise<boolean> | undefined;
  return async (key) => {
    if (isId(key)) return `${key} is the id of a contact, not a key`;
    const reading = read(key);
    if (!("code" in reading)) return undefined;
    if (keylessCodes.has(reading.code)) return reading.message;
    if (reading.code !== "key_syntax") return undefined;
    if (/@.*\s|\s.*@/.test(key.trim())) return reading.message;
    if (isAddressLike(key)) return undefined;
    areAddresses ??= areKeysAddresses(context);
    return (await areAddresses) ? reading.message : undefined;
  };
}

/** @throws UsageError when one of them is no key: then none is added */
async function readTypedKeys(context: Context, keys: string[]): Promise<KeysToAdd> {
  requireNoFile(keys);
  const check = await createKeyCheck(context);
  for (const key of keys) {
    const wrong = await check(key);
    if (wrong === undefined) continue;
    throw usageError(`Nothing was added: ${wrong}`, "Name each person by one key, such as ada@example.com");
  }
  return { keys, rejected: [] };
}

/** @throws UsageError where it is not clear which rows are meant */
async function readKeysFromFile(
  context: Context,
  input: InputFile,
  { read, rows }: FileReading,
): Promise<KeysToAdd> {
  const { requireUnderstood, surveyInput } = await import("../../tables/index.ts");
  const { chooseRows } = await import("../../bulk/index.ts");
  const check = await createKeyCheck(context);
  const marksChoose = rows !== "all";
  const options = { ...read, takesIds: true, readsConsent: marksChoose, consentChoosesRows: marksChoose };
  const understood = await requireUnderstood("keys", input, options);
  const survey = await surveyInput(understood, context.signal, () => {});
  for (const note of survey.notes.filter(({ code }) => code === "unknown_value"))
    context.terminal.note(`warning: ${describeRowsNote(note)}`, "needed");
  await chooseRows("suppress", rows, survey, understood.facts);
  const found: KeysToAdd = { keys: [], rejected: [] };
  for await (const row of flatten(survey.batches())) {
    // Nobody of them must be created again: a cell that is not understood is enough.
    if (rows === "marked" && !row.mark) continue;
    const wrong = row.kind === "row" ? await check(row.key.written) : row.message;
    if (wrong !== undefined) found.rejected.push(`${input.name}:${row.line}: ${wrong}`);
    else if (row.kind === "row") found.keys.push(row.key.written);
  }
  return found;
}

async function* flatten<T>(batches: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}
