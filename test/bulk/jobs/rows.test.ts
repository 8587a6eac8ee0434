/** Whom conditions choose on the pages of an account. */
import { expect, it } from "vitest";
import type { Desired } from "../../../src/bulk/desired.ts";
import { listSelectedItems } from "../../../src/bulk/jobs/edit.ts";
import type { Lookup } from "../../../src/bulk/plan/lookup.ts";
import type { AccountSnapshot } from "../../../src/bulk/plan/snapshot.ts";
import type { Contact } from "../../../src/wire.ts";

const isEarly = ({ key = "" }: Partial<Contact>) => key < "c";
const isAny = () => true;
const desired = { values: [] } as unknown as Desired;
const lookup = { toIdentity: (key: string) => key.toLowerCase() } as Lookup;

it.each([
  ["everybody without any", ["a", "b"], true, isAny, ["1 a@x.org", "2 b@x.org"]],
  ["for whom they hold", ["d", "b", "c"], true, isEarly, ["2 b@x.org"]],
  ["once who slid to another page", ["a", "b", "a"], false, isAny, ["1 a@x.org", "2 b@x.org"]],
] as const)("conditions choose %s", (_why, names, isWhole, holds, chosen) => {
  const contacts = names.map((name) => ({ _id: `id-${name}`, key: `${name}@x.org` }));
  const snapshot = { all: () => contacts, isWhole: () => isWhole } as unknown as AccountSnapshot;
  const items = listSelectedItems(snapshot, { selection: { holds }, desired, lookup });
  expect([...items].map(({ key, ref }) => `${ref} ${key.sent}`)).toEqual(chosen);
});
