import type { Command } from "@commander-js/extra-typings";
import { deleteContactRequest } from "../../api/contacts.ts";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { type EcmError, failedError, isNotOffered, readOnlyCommandError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { deleteContact, findContactsOfKey, type KnownContacts } from "../../service/erase-contact.ts";
import type { View } from "../../terminal/present.ts";
import type { Send } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { readPeople } from "../selection/keys.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { type Result, verb } from "../verb.ts";

/** What is left of a person: proof that the erasure was done, without the address. */
interface Receipt {
  /** RFC 3339, UTC. */
  time: string;
  /** Base address of the account. */
  account: string;
  /** The keyed hash on the suppression list. */
  hash: string;
  /** `deleted`, or `absent` when the account did not hold the contact. */
  contact: "deleted" | "absent";
  /** How many files of this machine held the address; of all persons that were erased together. */
  files: number;
  /** Files elsewhere that runs of the account have read or written: they may hold an address, and stay. */
  mayContain: string[];
}

const receiptView: View<Receipt> = {
  columns: [
    { name: "time", value: (receipt) => receipt.time },
    { name: "account", value: (receipt) => receipt.account },
    { name: "contact", value: (receipt) => receipt.contact },
    { name: "files", value: (receipt) => receipt.files },
  ],
  id: (receipt) => receipt.hash,
};

export function registerContactErase(parent: Command, context: Context): void {
  const command = parent
    .command("erase")
    .description(
      "erase a person: delete the contact, remove it from this machine's files, and never create them again",
    )
    .argument("[key...]", "contact keys, such as email addresses");
  verb(context, addDryRunFlag(command), {
    examples: ["ecm contact erase ada@example.com", "ecm contact erase ada@example.com --yes --json"],
    output:
      "A receipt without the address: time, account, whether the contact existed, and the number of ecm's own files that held the address; as JSON also the keyed hash, and mayContain: files elsewhere that runs have read or written. One object for one key, an array for several.",
    writes: true,
    asks: true,
    exitCodes: {
      0: "done, even if the contact did not exist in the account",
      1: "not confirmed, or something failed; the same command completes it",
      6: "the contact may be in a run or an export that another process is working on",
    },
    view: receiptView,
    run: (keys, { dryRun }) => erasePeople(context, keys, dryRun),
  });
}

async function erasePeople(
  context: Context,
  typedKeys: string[],
  isDryRun = false,
): Promise<Result<Receipt> | undefined> {
  const { terminal, folders, clock } = context;
  const people = await readPeople(context, typedKeys, ecm`contact erase KEY`);
  const [{ findPeople }, erase, { readRunsOf }] = await Promise.all([
    import("../../privacy/people.ts"),
    import("../../privacy/erase.ts"),
    import("../../privacy/dossier.ts"),
  ]);
  const erased = findPeople(people.flat());
  const { profile, send, account } = await context.connect();
  const { accountAddress } = profile;
  const { known } = await readRunsOf(folders.state, accountAddress, people.flat());
  const find = (spellings: string[]) => findContactsOfKey(send, account, spellings, known);
  if (isDryRun) {
    const files = await erase.countFilesWith(folders, erased);
    terminal.note(
      `Would change ${formatCounted(files, "file")} on this machine, and never create ${people.length === 1 ? "this person" : "them"} again`,
    );
    const found = (await Promise.all(people.map(find))).flat();
    const would = `permanently delete ${found.map(({ key }) => key).join(", ")} in the account`;
    if (found.length > 0) return { request: found.map(({ _id }) => deleteContactRequest(_id)), would };
    return void terminal.note("The contact does not exist in the account");
  }
  const requireNobodyAtWork = () => erase.requireNobodyAtWork(folders, erased, accountAddress);
  await requireNobodyAtWork();
  await context.confirm(
    `Erase ${people.length === 1 ? people[0]![0] : `${people.length} people`} permanently? They are deleted in the account, removed from ecm's own files on this machine, and never created again.`,
  );
  if (profile.readOnly) throw readOnlyCommandError();
  // First: from here on no other command creates the person again.
  const suppressions = await openSuppressionList(context, { mayBeMissing: true });
  const keys = people.map(([key]) => key!);
  const { entries } = await suppressions.add(keys, clock.now());
  const found: KnownContacts[] = [];
  for (const spellings of people) found.push(await find(spellings));
  const refusal = await deleteContacts(send, found.flat());
  // What began meanwhile may have read the contact before it was deleted.
  await requireNobodyAtWork();
  // Before what names them is erased: their names may hold the address too.
  const elsewhere = await erase.listFilesElsewhere(folders, accountAddress);
  const own = await erase.eraseFromFiles(folders, erased);
  const files = own.files + (await context.eraseFromSandbox(people.flat(), erased.mask));
  requireNothingLeft(await erase.countFilesWith(folders, erased));
  const time = new Date(clock.now()).toISOString();
  const mayContain = elsewhere.map((file) => erased.mask(file) ?? file);
  const receipts = entries.map(({ hash }, index): Receipt => {
    const contact = found[index]!.length > 0 ? "deleted" : "absent";
    return { time, account: accountAddress, hash, contact, files, mayContain };
  });
  if (!refusal) terminal.note(describeErasure(receipts));
  if (elsewhere.length > 0) {
    const list = elsewhere.map((file) => `  ${file}`).join("\n");
    terminal.warn(`Files that runs have read or written may contain the address, and stay:\n${list}`);
  }
  if (own.withoutInput.length > 0)
    terminal.warn(
      `Removed the copied input of runs that had written nothing yet; run their commands again with the same input: ${own.withoutInput.join(", ")}`,
    );
  if (refusal) throw refusal;
  return receipts.length === 1 ? { one: receipts[0]! } : { many: receipts };
}

/** @returns what is thrown once the rest is done, where the service deletes no contacts */
async function deleteContacts(send: Send, contacts: KnownContacts): Promise<EcmError | undefined> {
  try {
    for (const { _id } of contacts) await deleteContact(send, _id);
  } catch (error) {
    if (!isNotOffered(error)) throw error;
    const them = contacts.length === 1 ? "the contact" : "the contacts";
    error.details.hint = `The rest is done. Delete ${them} in the service's own pages, then run the same command again`;
    return error;
  }
}

/** `Erased: deleted in the account, removed from 2 of ecm's own files, never created again`. */
function describeErasure(receipts: readonly Receipt[]): string {
  const deleted = receipts.filter(({ contact }) => contact === "deleted").length;
  const who = receipts.length === 1 ? "Erased" : `Erased ${receipts.length} people`;
  const account = deleted === 0 ? "not in the account" : "deleted in the account";
  const inPart = deleted > 0 && deleted < receipts.length ? ` (${deleted} of ${receipts.length})` : "";
  const { files } = receipts[0]!;
  const own = files === 0 ? "in none of ecm's own files" : `removed from ${files} of ecm's own files`;
  return `${who}: ${account}${inPart}, ${own}, never created again`;
}

/** The proof of the work. @throws EcmError when a file still holds a key */
function requireNothingLeft(left: number): void {
  if (left === 0) return;
  throw failedError(
    `The address is still in ${formatCounted(left, "file")} on this machine`,
    "Another ecm process or a running sandbox may be writing: stop it, then run the same command again",
    { type: "ErasureIncompleteError", retryable: true },
  );
}
