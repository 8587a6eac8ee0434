/**
 * The contacts of a run that are not done, in blocks that are looked up together. Who is read by their id, with a request of their own,
 * is a block alone: the reads of many would all leave before the first of their writes.
 */
import type { Item, Work } from "../items.ts";
import type { Session } from "./session.ts";

export async function* openBlocks<T extends Item>(
  { ledger, lookup }: Pick<Session, "ledger" | "lookup">,
  works: readonly Work<T>[],
  isWanted?: (work: Work<T>, item: T) => boolean,
): AsyncGenerator<T[]> {
  let block: T[] = [];
  for (const work of works) {
    for await (const items of work.batches()) {
      for (const item of items) {
        if (ledger.isDone(item.ref) || isWanted?.(work, item) === false) continue;
        if (isReadAlone(work, item)) {
          if (block.length > 0) yield block;
          block = [];
          yield [item];
          continue;
        }
        if (block.push(item) < lookup.blockSize) continue;
        yield block;
        block = [];
      }
    }
  }
  if (block.length > 0) yield block;
}

export function isReadAlone<T extends Item>(work: Work<T>, item: T): boolean {
  return work.contactId?.(item) !== undefined && (work.needsLookup?.(item) ?? true);
}
