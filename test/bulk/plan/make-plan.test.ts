/** The plan step: an account and a row in, requests and a line of the plan out. */

import { expect, it } from "vitest";
import type { Desired } from "../../../src/bulk/desired.ts";
import { readPlanLines } from "../../../src/bulk/plan/plan-file.ts";
import type { StoredLine } from "../../../src/bulk/plan/plan-line.ts";
import { toValues } from "../../../src/bulk/values.ts";
import {
  type Ada,
  lastRequest,
  openSteps,
  planRows,
  requestsSince,
  row,
  startAdasAccount,
} from "../steps-kit.ts";

type Row = [what: string, key: string, wish: (ada: Ada) => Partial<Desired>, line: (ada: Ada) => object];

const ada = "ada@example.com";
const nobody = "nobody@example.com";
const city =
  (value: string, more: Partial<Desired> = {}) =>
  (account: Ada) => ({ values: toValues({ fields: [[account.city, value]] }), ...more });

it.each<Row>([
  [
    "nobody has the key",
    nobody,
    city("Rome"),
    (of) => ({
      action: "create",
      apply: { desired: { values: [{ what: "field", id: of.city, to: "Rome" }] } },
    }),
  ],
  [
    "a value differs",
    ada,
    city("Rome"),
    (of) => ({
      action: "update",
      apply: {
        desired: { values: [{ what: "field", id: of.city, to: "Rome" }] },
        before: { id: of.id, values: [{ what: "field", id: of.city, to: "Oslo" }] },
      },
    }),
  ],
  [
    "a list is added",
    ada,
    (of) => ({ values: toValues({ fields: [[of.city, "Oslo"]], addLists: [of.news] }) }),
    (of) => ({ apply: { before: { values: [{ what: "list", id: of.news, to: false }] } } }),
  ],
  ["all of it is so already", ada, city("Oslo"), () => ({ action: "unchanged" })],
  [
    "who is not there is rejected",
    nobody,
    city("Rome", { absent: { reject: { code: "not_found" } } }),
    () => ({ action: "reject", code: "not_found", message: "no contact has this key or id" }),
  ],
  [
    "who is marked is not created",
    nobody,
    () => ({ mayJoinLists: false }),
    () => ({ action: "skip", code: "not_subscribed" }),
  ],
  [
    "who is marked is added to no list",
    ada,
    (of) => ({ values: toValues({ addLists: [of.news] }), mayJoinLists: false }),
    () => ({ action: "unchanged" }),
  ],
])("%s", async (_what, key, wish, line) => {
  const account = await startAdasAccount();
  const { service } = account;
  const steps = await openSteps(service);
  const last = lastRequest(service);
  await planRows(steps, [row(key, wish(account))]);
  expect(requestsSince(service, last)).toEqual(["POST /contact/search 200"]);
  const lines: StoredLine[] = [];
  for await (const each of readPlanLines(steps.plan)) lines.push(each);
  expect(lines).toEqual([expect.objectContaining({ line: 2, key })]);
  expect(lines).toMatchObject([line(account)]);
  // Nothing is written down but the plan.
  expect(await steps.journal()).toEqual([]);
});
