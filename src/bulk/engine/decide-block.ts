/** A block of contacts, looked up and decided: what needs no request is written down, the rest is returned. */
import { isInactive } from "../../service/contacts.ts";
import type { Found } from "../account/lookup.ts";
import type { Decision, Item, Remark, Work } from "../items.ts";
import { withStatus } from "./decide.ts";
import { conclude, isWrite, reject } from "./outcomes.ts";
import type { PlanBlock } from "./plan-recorder.ts";
import { readWritten } from "./read-back.ts";
import type { Session } from "./session.ts";
import { collectDecided } from "./without-request.ts";

/** A contact that needs a write, or had one that may have been applied. */
export interface Pending<T> {
  item: T;
  found: Found;
  decision: Decision;
}

export async function decideBlock<T extends Item>(
  session: Session,
  work: Work<T>,
  block: readonly T[],
  planned?: PlanBlock,
): Promise<Pending<T>[]> {
  const found = await lookUp(session, work, block);
  const decided = await decideFresh(
    session,
    work,
    block.map((item) => decideOne(work, item, found.get(item.ref) ?? { isKept: false })),
  );
  await planned?.fill(decided.map((each) => planLine(session, work, each)));

  const { ledger } = session;
  const writes: Pending<T>[] = [];
  const rest = collectDecided();
  for (const each of decided) {
    const { item, found, decision } = each;
    if (found.refused) reject(session, item, refusalOf(found));
    else if (isWrite(decision) || ledger.openIntent(item.ref) || ledger.isBegun(item.ref)) writes.push(each);
    else if (decision.kind === "reject") conclude({ session, work, item }, decision, found.contact);
    else {
      rest.add(item.ref, decision, {
        isInactive: isInactive(found.contact),
        isMarked: work.isMarked?.(item, found.contact) ?? false,
      });
    }
  }
  rest.note(session);
  return writes;
}

/** What is known of the contacts that have to be looked up; those of open writes as they are now. */
async function lookUp<T extends Item>(
  session: Session,
  work: Work<T>,
  block: readonly T[],
): Promise<Map<number, Found>> {
  const { ledger, lookup } = session;
  const wanted = block.filter((item) => ledger.openIntent(item.ref) || (work.needsLookup?.(item) ?? true));
  const byKey = wanted.filter((item) => work.contactId?.(item) === undefined);
  const open = byKey.filter((item) => ledger.openIntent(item.ref));
  const found = await lookup.find(byKey.filter((item) => !ledger.openIntent(item.ref)));
  await Promise.all(
    wanted.map(async (item) => {
      const id = work.contactId?.(item);
      if (id !== undefined) found.set(item.ref, { contact: await lookup.read(id), isKept: false });
    }),
  );
  // What may have been written since the snapshot was taken cannot be told from it.
  for (const [ref, each] of await findOpen(session, open)) found.set(ref, each);
  return found;
}

/** The contacts of writes that may have been applied: created ones by their keys, all others by their ids. */
async function findOpen<T extends Item>(session: Session, items: readonly T[]): Promise<Map<number, Found>> {
  const byKey: T[] = [];
  const found = new Map<number, Found>();
  for (const item of items) {
    const { operation } = session.ledger.openIntent(item.ref)!;
    if (operation.kind === "create" || operation.kind === "change") byKey.push(item);
    else found.set(item.ref, await readWritten(session, item, operation));
  }
  if (byKey.length > 0) {
    for (const [ref, each] of await session.lookup.findFresh(byKey)) found.set(ref, each);
  }
  return found;
}

/** Looks up again whom it would be wrong to write by what was read earlier. */
async function decideFresh<T extends Item>(
  { lookup }: Session,
  work: Work<T>,
  decided: Pending<T>[],
): Promise<Pending<T>[]> {
  // A create notices by itself that the contact exists; a change is decided on what is not older than minutes,
  // and a deletion or a status, which undo from the journal alone, on what is not older than an hour.
  const unguarded = decided.filter(({ found, decision }) => {
    if (!found.isKept || found.refused || decision.kind === "create") return false;
    if (decision.kind === "change") return lookup.isAging() || changesUnknownLists(decision);
    return lookup.isOutdated();
  });
  if (unguarded.length === 0) return decided;
  const fresh = await lookup.findFresh(unguarded.map(({ item }) => item));
  return decided.map((each) => {
    const now = unguarded.includes(each) ? fresh.get(each.item.ref) : undefined;
    return now ? decideOne(work, each.item, now) : each;
  });
}

/** A page of everybody may leave the lists out; a look-up by keys can ask for them list by list. */
function changesUnknownLists({ body, before }: Extract<Decision, { kind: "change" }>): boolean {
  return !before.knewLists && (body.addLists !== undefined || body.removeLists !== undefined);
}

export function decideOne<T extends Item>(work: Work<T>, item: T, found: Found): Pending<T> {
  const decision: Decision = found.refused
    ? { kind: "reject", ...refusalOf(found) }
    : found.isRepeated
      ? { kind: "skip", code: "duplicate" }
      : work.decide(item, found.contact);
  return { item, found, decision };
}

/** Why what the service refuses to look up is rejected. */
function refusalOf({ refused }: Found): Remark {
  return { code: refused!.type, message: refused!.message };
}

/** One line for the contact, although a status and a change of fields are two writes. */
function planLine<T extends Item>(session: Session, work: Work<T>, { item, found, decision }: Pending<T>) {
  const { lineOf } = session.plan!;
  const line = lineOf(item, decision, found);
  if (decision.kind !== "status" || !found.contact) return line;
  const next = work.decide(item, withStatus(found.contact, decision.status));
  return isWrite(next) ? { ...line, changes: [...line.changes, ...lineOf(item, next, found).changes] } : line;
}
