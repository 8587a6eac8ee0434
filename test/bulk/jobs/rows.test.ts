/** Whom conditions choose on the pages of an account, and which members of a list a sync takes out. */
import { describe, expect, it } from "vitest";
import type { Desired } from "../../../src/bulk/desired.ts";
import { listSelectedItems } from "../../../src/bulk/jobs/edit.ts";
import type { RowRun } from "../../../src/bulk/jobs/rows.ts";
import { planRemovals } from "../../../src/bulk/jobs/sync.ts";
import type { Lookup } from "../../../src/bulk/plan/lookup.ts";
import type { AccountSnapshot } from "../../../src/bulk/plan/snapshot.ts";
import { TextIndex } from "../../../src/text-index.ts";
import type { Contact } from "../../../src/wire.ts";

const toContact = (name: string): Partial<Contact> => ({ _id: `id-${name}`, key: `${name}@x.org` });

function snapshotOf(names: readonly string[], isWhole = true): AccountSnapshot {
  return { all: () => names.map(toContact), isWhole: () => isWhole } as unknown as AccountSnapshot;
}

interface Given {
  named?: readonly string[];
  rejected?: readonly string[];
  isCut?: boolean;
}

/** A run over an input of these keys, and of rejected rows with these cells. */
function runOver({ named = [], rejected = [], isCut }: Given) {
  const identities = new TextIndex();
  for (const name of named) identities.add(`${name}@x.org`);
  const remarks: string[] = [];
  const run = {
    survey: {
      identities,
      lastLine: 10,
      rejected: rejected.length,
      rejectedCodes: new Map(isCut ? [["truncated", 1]] : []),
      batches: async function* () {
        yield rejected.map((cell) => ({ kind: "rejected", cells: [cell] }));
      },
    },
    context: { emit: ({ remark }: { remark: { code: string } }) => remarks.push(remark.code) },
  } as unknown as RowRun;
  return { run, remarks };
}

const ten = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
/** No input here has a last row without a line end, which alone is looked up. */
const lookup = { toIdentity: (key: string) => key.toLowerCase() } as Lookup;

describe("a sync takes out", () => {
  const cases: [why: string, given: Given, removed: string[], remarks?: string[]][] = [
    ["nobody whom its file names", { named: ten }, []],
    ["who is not named", { named: ten.slice(1) }, ["a"]],
    ["nobody whom a rejected row may mean", { named: ten.slice(1), rejected: ["Ada (a@x.org)?"] }, []],
    ["nobody whose id a rejected row has", { named: ten.slice(1), rejected: ["ID-A"] }, []],
    ["nobody where the file is cut off", { named: ten.slice(5), isCut: true }, [], ["cut_off"]],
  ];
  it.each(cases)("%s", async (_why, given, removed, remarks = []) => {
    const { run, remarks: said } = runOver(given);
    const { count, removals, items } = await planRemovals(snapshotOf(ten), run, { listId: "l", lookup });
    const found = [...items()];
    const isSkipped = ({ desired }: (typeof found)[number]) => "skip" in desired;
    expect(found.filter((item) => !isSkipped(item)).map(({ key }) => key.sent.replace("@x.org", ""))).toEqual(
      removed,
    );
    // The lines of the file come before the places of members.
    expect(found.every(({ ref, line }) => ref > 10 && line === null)).toBe(true);
    expect([count, removals!.members, said]).toEqual([found.length, 10, remarks]);
  });
});

describe("conditions choose", () => {
  const isEarly = ({ key = "" }: Partial<Contact>) => key < "c";
  const isAny = () => true;
  const desired = { values: [] } as unknown as Desired;
  it.each([
    ["everybody without any", ["a", "b"], true, isAny, ["1 a@x.org", "2 b@x.org"]],
    ["for whom they hold", ["d", "b", "c"], true, isEarly, ["2 b@x.org"]],
    ["once who slid to another page", ["a", "b", "a"], false, isAny, ["1 a@x.org", "2 b@x.org"]],
  ] as const)("%s", (_why, pages, isWhole, holds, chosen) => {
    const items = listSelectedItems(snapshotOf(pages, isWhole), { selection: { holds }, desired, lookup });
    expect([...items].map(({ key, ref }) => `${ref} ${key.sent}`)).toEqual(chosen);
  });
});
