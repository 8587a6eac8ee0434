/** One edit of many contacts, as a bulk run: what `mutate`, `unsubscribe` and `delete` share. */
import { Readable } from "node:stream";
import type { Closed, EditOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { quotedCell } from "../../delimited-lines.ts";
import { declinedError } from "../../errors.ts";
import type { WhileAsking } from "../bulk/start.ts";
import { type BulkFlags, toRunOptions } from "../flags/bulk.ts";
import type { ChosenContacts } from "../selection/conditions.ts";

interface BulkEdit {
  kind: EditOptions["kind"];
  chosen: ChosenContacts;
  flags: BulkFlags & { includeUnsubscribed?: true; backup?: string };
  changes?: EditOptions["wanted"];
}

const progressVerbs = { mutate: "Changing", unsubscribe: "Unsubscribing", delete: "Deleting" };

/** Runs the job and says what it did; what stopped it is in the result. */
export async function editMany(
  context: Context,
  { kind, chosen, flags, changes }: BulkEdit,
): Promise<Closed> {
  const options = toRunOptions(flags, context.clock.now());
  const danger = kind === "mutate" ? "change" : kind;
  // What is refused loads no engine.
  const { requireAnswer } = await import("../bulk/question.ts");
  requireAnswer(context, danger, options.isDryRun);
  const [{ jobs }, { createBackUp, startRun }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../bulk/start.ts"),
  ]);
  const backUp = kind === "delete" ? createBackUp(context, flags.backup) : undefined;
  const { conditions, reading } = chosen;
  const { includeUnsubscribed } = flags;
  const input = openInput(context, chosen);
  const edit: EditOptions = { kind, wanted: changes, conditions, includeUnsubscribed, ...reading, ...input };
  const job = await jobs[kind](edit);
  const asks = (whileAsking: WhileAsking) =>
    jobs[kind](edit, (rows) => whileAsking(() => askRows(context, kind, rows)));
  const what = `${progressVerbs[kind]} ${describeContacts(chosen, job.input.name)}`;
  const isSingle = kind === "delete" && chosen.single !== undefined;
  return startRun(context, { job, options, flags, what, danger, backUp, asks, isSingle });
}

/** Which rows are meant of a file that marks some of them. @throws DeclinedError */
async function askRows(
  context: Context,
  verb: string,
  { marked, all }: { marked: number; all: number },
): Promise<"marked" | "all"> {
  const answer = await context
    .prompter()!
    .select<"marked" | "all" | "none">(
      `The file marks ${formatCount(marked)} of ${formatCounted(all, "row")} as not subscribed. Whom do you want to ${verb}?`,
      [
        ...(marked > 0 ? [{ name: `those alone (${formatCount(marked)})`, value: "marked" as const }] : []),
        { name: `everyone in the file (${formatCount(all)})`, value: "all" },
        { name: "nobody", value: "none" },
      ],
    );
  if (answer === "none") throw declinedError();
  return answer;
}

function describeContacts({ contacts: typedContacts, keys }: ChosenContacts, name: string): string {
  if (keys === "-") return "the contacts of standard input";
  if (typedContacts.length > 0)
    return typedContacts.length === 1 ? typedContacts[0]! : `${typedContacts.length} contacts`;
  return keys === undefined ? `contacts: ${name}` : `the contacts of ${keys}`;
}

/** Contacts named one by one become a file of one key or id on each line. */
function openInput(
  context: Context,
  { contacts: typedContacts, keys }: ChosenContacts,
): Pick<EditOptions, "input" | "isPlain"> {
  if (keys !== undefined) {
    return { input: { name: keys, stream: keys === "-" ? context.terminal.stdin : undefined } };
  }
  if (typedContacts.length === 0) return {};
  const lines = typedContacts.map((each) => `${quotedCell(each)}\n`);
  const name = `${typedContacts.length} ${typedContacts.length === 1 ? "contact" : "contacts"}`;
  return { input: { name, stream: Readable.from([lines.join("")]) }, isPlain: true };
}
