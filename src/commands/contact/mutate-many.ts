/** `ecm contact mutate` with several contacts, or with `--keys`: the same change on each, as a bulk run. */
import { Readable } from "node:stream";
import type { MutateOptions } from "../../bulk/jobs/mutate.ts";
import type { Context } from "../../context.ts";
import { ServiceError, UsageError } from "../../errors.ts";
import { splitAssignment, type WantedChanges } from "../../service/contact-changes.ts";
import { getContactRequest, readContact } from "../../service/contacts.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import type { MutateBody, Send } from "../../wire.ts";
import { type BulkFlags, endRun, openEngine, runOptionsFrom } from "../bulk/flags.ts";

export interface MutateManyOptions extends WantedChanges, BulkFlags {
  data?: string;
  keys?: string;
  failUnchanged?: boolean;
}

const members = ["addTags", "removeTags", "addLists", "removeLists", "updateFields"];
const idForm = /^[0-9a-f]{24}$/i;

export async function mutateMany(
  context: Context,
  contacts: string[],
  given: MutateManyOptions,
): Promise<void> {
  refuseCombinations(contacts, given);
  const options = runOptionsFrom(given, context.clock.now());
  const wanted = await wantedFrom(context, given);
  const [{ mutateJob }, { runRowJob }, { displayRun }] = await Promise.all([
    import("../../bulk/jobs/mutate.ts"),
    import("../../bulk/engine/execute-run.ts"),
    import("../bulk/progress.ts"),
  ]);
  const what = given.keys === undefined ? `${contacts.length} contacts` : given.keys;
  const display = displayRun(context, `changing ${what === "-" ? "the contacts of standard input" : what}`);
  try {
    const engine = await openEngine(context, options.concurrency);
    const job: MutateOptions = { wanted, ...(await inputFrom(context, contacts, given, engine.send)) };
    const result = await runRowJob(engine, mutateJob(job), options, display.on);
    display.end(result.summary);
    await endRun(context, result);
  } finally {
    display.close();
  }
}

function refuseCombinations(contacts: string[], given: MutateManyOptions): void {
  if (given.ifVersion !== undefined) {
    throw new UsageError(
      "--if-version goes with one contact",
      "a bulk run checks each contact's own version",
    );
  }
  if (given.failUnchanged) throw new UsageError("--fail-unchanged goes with one contact");
  if (given.keys !== undefined && contacts.length > 0) {
    throw new UsageError(
      "--keys is the whole list of contacts: it goes without others",
      "leave out one of the two",
    );
  }
  if (given.keys === "-" && given.data === "-") {
    throw new UsageError("--keys and --data cannot both be standard input", "name a file for one of them");
  }
}

async function wantedFrom(context: Context, given: MutateManyOptions): Promise<MutateOptions["wanted"]> {
  const { data, addTag, removeTag, addList, removeList, set } = given;
  if (data === undefined) {
    set?.forEach(splitAssignment);
    return { addTag, removeTag, addList, removeList, set };
  }
  if ([addTag, removeTag, addList, removeList, set].some((value) => value !== undefined)) {
    throw new UsageError("--data is the whole body: it goes without the flags that name changes");
  }
  const { value } = await readJsonInput(context.terminal, data, "--data");
  const isBody =
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(([name, part]) => members.includes(name) && Array.isArray(part));
  if (!isBody) {
    throw new UsageError(`--data: a bulk run takes an object of ${members.join(", ")}, each an array`);
  }
  return { body: value as MutateBody };
}

/** Contacts named one by one become a file of one key on each line; an id's key is read first. */
async function inputFrom(
  context: Context,
  contacts: string[],
  { keys }: MutateManyOptions,
  send: Send,
): Promise<Pick<MutateOptions, "input" | "isPlain">> {
  if (keys !== undefined) {
    return { input: { name: keys, stream: keys === "-" ? context.terminal.stdin : undefined } };
  }
  const lines: string[] = [];
  for (const each of contacts) lines.push(`"${(await keyOf(send, each)).replaceAll('"', '""')}"\n`);
  return { input: { name: "-", stream: Readable.from([lines.join("")]) }, isPlain: true };
}

async function keyOf(send: Send, idOrKey: string): Promise<string> {
  if (!idForm.test(idOrKey)) return idOrKey;
  try {
    return readContact(await send(getContactRequest(idOrKey))).key;
  } catch (error) {
    // Then it is no id, and may be a key.
    if (error instanceof ServiceError && error.status === 404) return idOrKey;
    throw error;
  }
}
