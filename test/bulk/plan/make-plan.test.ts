/** The plan step: an account and a row in, requests and a line of the plan out. */

import { expect } from "vitest";
import type { DesiredContact } from "../../../src/bulk/items.ts";
import { type DecideOptions, decide } from "../../../src/bulk/plan/decide.ts";
import { readPlanLines, type StoredLine } from "../../../src/bulk/plan/plan-file.ts";
import { firstQuick } from "../../support/first-quick.ts";
import {
  type Ada,
  lastRequest,
  openSteps,
  planRows,
  requestsSince,
  row,
  startAdasAccount,
} from "../steps-kit.ts";

type Row = [
  what: string,
  key: string,
  wish: (ada: Ada) => Partial<DesiredContact>,
  options: Partial<DecideOptions>,
  line: (ada: Ada) => object,
];

const ada = "ada@example.com";
const nobody = "nobody@example.com";
const city = (value: string) => (account: Ada) => ({ fields: new Map([[account.city, value]]) });

firstQuick(2)<Row>([
  [
    "nobody has the key",
    nobody,
    city("Rome"),
    {},
    (of) => ({
      action: "create",
      apply: {
        operation: { kind: "create", body: { key: nobody, fields: [{ _id: of.city, value: "Rome" }] } },
      },
    }),
  ],
  [
    "a value differs",
    ada,
    city("Rome"),
    {},
    (of) => ({
      action: "update",
      apply: {
        operation: {
          kind: "change",
          contactId: of.id,
          body: { updateFields: [{ _id: of.city, value: "Rome" }] },
          before: { fields: [{ _id: of.city, value: "Oslo" }] },
        },
      },
    }),
  ],
  [
    "a value is emptied",
    ada,
    city(""),
    {},
    (of) => ({
      action: "update",
      apply: { operation: { kind: "change", body: { updateFields: [{ _id: of.city, value: "" }] } } },
    }),
  ],
  [
    "a list is added",
    ada,
    (of) => ({ ...city("Oslo")(of), addLists: [of.news] }),
    {},
    (of) => ({ apply: { operation: { body: { addLists: [{ _id: of.news }] }, before: { fields: [] } } } }),
  ],
  ["all of it is so already", ada, city("Oslo"), {}, () => ({ action: "unchanged" })],
  [
    "who is there stays by mode create",
    ada,
    city("Rome"),
    { mode: "create" },
    () => ({ action: "skip", code: "exists" }),
  ],
  [
    "who is not there is passed over",
    nobody,
    city("Rome"),
    { mode: "update" },
    () => ({ action: "skip", code: "missing" }),
  ],
  [
    "who is not there is rejected",
    nobody,
    city("Rome"),
    { mode: "update", missing: "reject" },
    () => ({ action: "reject", code: "not_found" }),
  ],
  [
    "who is marked is not created",
    nobody,
    () => ({ isNotSubscribed: true }),
    {},
    () => ({ action: "skip", code: "not_subscribed" }),
  ],
  [
    "who is marked is added to no list",
    ada,
    (of) => ({ addLists: [of.news], isNotSubscribed: true }),
    {},
    () => ({ action: "unchanged" }),
  ],
])("%s", async (_what, key, wish, how, line) => {
  const account = await startAdasAccount();
  const { service } = account;
  const steps = await openSteps(service, (structureId) => ({
    decide: (item, found) =>
      decide(item.key.sent, item.desired!, found, { structureId, mode: "upsert", missing: "skip", ...how }),
  }));
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
