/** A list's members, and which of them an input does not name. */
import { UsageError } from "../../errors.ts";
import { allOf, equals } from "../../service/contacts.ts";
import { identityReader } from "../account/lookup.ts";
import { readAllPages } from "../account/read-account.ts";
import type { Snapshot } from "../account/snapshot.ts";
import type { Item, Work } from "../items.ts";
import { changeOf } from "./decide.ts";
import type { MembersOptions, Prepared } from "./row-job.ts";

export interface Removals {
  count: number;
  work: Work<RemovalItem>;
}

export interface RemovalItem extends Item {
  place: number;
}

const defaultMostPercent = 10;

/** Reads the members into the snapshot. */
export async function readMembers(snapshot: Snapshot, prepared: Prepared, source: string[]): Promise<void> {
  const { send, behavior, keys, engine, structure, job, options } = prepared;
  const listId = job.members!.listId();
  const pages = {
    send,
    behavior,
    keys,
    clock: engine.clock,
    structureId: structure._id,
    source,
    filters: allOf(equals("LIST_ID", [listId])),
    lists: [{ _id: listId }],
    concurrency: options.concurrency,
  };
  await readAllPages(snapshot, pages);
}

/**
 * Members that the input does not name. Their places in the snapshot name them in the journal, after the input's lines.
 * @throws UsageError when they are more than may be taken out; a dry run says so, and goes on to show whom
 */
export function planRemovals(members: Snapshot, prepared: Prepared): Removals {
  const { survey, structure, job } = prepared;
  const identityOf = identityReader(structure.keyType);
  const isNamed = (key: string) => survey.repeated.mayName(identityOf(key));
  let total = 0;
  let count = 0;
  for (const contact of members.all()) {
    total++;
    if (!isNamed(contact.key ?? "")) count++;
  }
  const refusal = tooMany(count, total, job.members!);
  if (refusal && !prepared.options.isDryRun) throw refusal;
  if (refusal) prepared.on({ kind: "remark", text: `A real run would be refused: ${refusal.message}` });
  const wish = {
    fields: new Map<string, string>(),
    addLists: [],
    removeLists: [job.members!.listId()],
    addTags: [],
    removeTags: [],
  };
  return {
    count,
    work: {
      changed: "removed",
      *items() {
        let place = 0;
        for (const contact of members.all()) {
          place++;
          const key = contact.key ?? "";
          if (isNamed(key)) continue;
          yield {
            ref: survey.lastLine + place,
            place,
            key: { written: key, sent: key, identity: identityOf(key) },
          };
        }
      },
      decide(_item, found) {
        // Gone from the account, and so from the list.
        if (!found) return { kind: "leave" };
        const change = changeOf(wish, found);
        return change ? { kind: "change", contactId: found._id!, ...change } : { kind: "leave" };
      },
    },
  };
}

function tooMany(
  count: number,
  total: number,
  { maxRemove, listName }: MembersOptions,
): UsageError | undefined {
  const limit = maxRemove ?? { percent: defaultMostPercent };
  const isTooMany = "rows" in limit ? count > limit.rows : count * 100 > limit.percent * total;
  if (!isTooMany) return undefined;
  const share = Math.round((count / total) * 1000) / 10;
  return new UsageError(
    `This would remove ${count} of the ${total} members of ${JSON.stringify(listName)} (${share} %)`,
    `Nothing was written. Check that it is the right file; to allow it, pass --max-remove ${count}`,
    { type: "TooManyRemovalsError" },
  );
}
