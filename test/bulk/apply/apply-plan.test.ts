/** The apply step: a line of a plan and what has happened since in, requests and journal out. */

import { expect, it } from "vitest";
import { applyPlan } from "../../../src/bulk/apply/apply-plan.ts";
import type { Desired } from "../../../src/bulk/desired.ts";
import type { JournalRecord } from "../../../src/bulk/runs/journal.ts";
import { toValues } from "../../../src/bulk/values.ts";
import { realClock } from "../../../src/clock.ts";
import { call } from "../kit.ts";
import {
  type Ada,
  lastRequest,
  openSteps,
  planRows,
  requestsSince,
  row,
  startAdasAccount,
} from "../steps-kit.ts";

const ada = "ada@example.com";
const nobody = "nobody@example.com";

/** Who is meant, and what is wanted of them. */
interface Work {
  key: string;
  desired: (of: Ada) => Partial<Desired>;
}
const toRome = ({ city }: Ada) => ({ values: toValues({ fields: [[city, "Rome"]] }) });
const toUnknown = () => ({ values: toValues({ fields: [["0123456789abcdef01234567", "x"]] }) });
const creating: Work = { key: nobody, desired: toRome };
const changing: Work = { key: ada, desired: toRome };
const breaking: Work = { key: ada, desired: toUnknown };
const unsubscribing: Work = {
  key: ada,
  desired: () => ({ end: "unsubscribe", absent: { skip: "missing" } }),
};
const deleting: Work = { key: ada, desired: () => ({ end: "delete", absent: { skip: "missing" } }) };

interface Meanwhile {
  /** Between the plan and its application. */
  happens?: (of: Ada) => Promise<unknown>;
  fault?: string;
  /** From this question on whether the person is. */
  suppressedFrom?: number;
}

const create = async ({ service, city }: Ada) => {
  const { structureId } = service.sandbox;
  const body = { key: nobody, contactStructureId: structureId, fields: [{ _id: city, value: "Rome" }] };
  await call(service, "POST", "/api/contact", body);
};
const remove = ({ service, id }: Ada) => service.ecm(`api DELETE /api/contact/${id} --yes`);

it.each<[string, Work, requests: string, journal: string, Meanwhile?]>([
  ["a create", creating, "create 200", "intent create, done created"],
  [
    "a create whose answer is lost is sent again, and its refusal tells whose the contact is",
    creating,
    "create reset-after, create 400, search 200",
    "intent create, intent create, done created",
    { fault: "reset-after:POST:/api/contact:n=1" },
  ],
  [
    "a create that never arrives is sent again",
    creating,
    "create reset-before, create 200",
    "intent create, intent create, done created",
    { fault: "reset-before:POST:/api/contact:n=1" },
  ],
  [
    "a create of somebody whom others have created since is decided again",
    creating,
    "create 400, search 200",
    "intent create, void, done unchanged",
    { happens: create },
  ],
  ["who is suppressed is not made", creating, "search 200", "done skipped suppressed", { suppressedFrom: 0 }],
  [
    "a lost create of somebody who was suppressed since is looked for, and not sent again",
    creating,
    "create reset-after, search 200",
    "intent create, done created",
    { fault: "reset-after:POST:/api/contact:n=1", suppressedFrom: 3 },
  ],
  [
    "a create that never arrives, of somebody who was suppressed since, is looked for again",
    creating,
    "create reset-before, search 200, search 200, search 200, search 200",
    "intent create, done skipped suppressed",
    { fault: "reset-before:POST:/api/contact:n=1", suppressedFrom: 3 },
  ],
  ["a change", changing, "mutate 200", "intent change, done updated"],
  [
    "a change whose answer is lost is looked for in the contact",
    changing,
    "mutate reset-after, read 200",
    "intent change, done updated",
    { fault: "reset-after:PUT:*:n=1" },
  ],
  [
    "a change that never arrives is looked for, and sent again",
    changing,
    "mutate reset-before, read 200, mutate 200",
    "intent change, intent change, done updated",
    { fault: "reset-before:PUT:*:n=1" },
  ],
  [
    "a contact that is gone is not made anew",
    changing,
    "mutate 404, search 200",
    "intent change, void, done skipped changed",
    { happens: remove },
  ],
  [
    "a change of a contact in which others have changed something else",
    changing,
    "mutate 200",
    "intent change, done updated",
    { happens: ({ service, id }) => service.ecm(`contact mutate ${id} --add-list News`) },
  ],
  [
    "a change that others have made since is not made again",
    changing,
    "mutate 400, read 200",
    "intent change, done unchanged",
    { happens: ({ service, id }) => service.ecm(`contact mutate ${id} --set City=Rome`) },
  ],
  ["an unsubscription", unsubscribing, "search 200, status 200", "intent unsubscribe, done updated"],
  [
    "an unsubscription whose answer is lost is looked for in the contact",
    unsubscribing,
    "search 200, status reset-after, read 200",
    "intent unsubscribe, done updated",
    { fault: "reset-after:PATCH:*:n=1" },
  ],
  ["a deletion", deleting, "search 200, delete 200", "intent delete, done deleted"],
  [
    "a deletion whose answer is lost is looked for by the id",
    deleting,
    "search 200, delete reset-after, read 404",
    "intent delete, done deleted",
    { fault: "reset-after:DELETE:*:n=1" },
  ],
  ["what is refused is rejected", breaking, "mutate 400", "intent change, done rejected ValidationError"],
])("%s", async (_what, { key, desired }, requests, journal, { happens, fault, suppressedFrom } = {}) => {
  const account = await startAdasAccount();
  const { service } = account;
  let [asked, limit] = [0, Number.POSITIVE_INFINITY];
  const holds = () => asked >= limit;
  const holdsNow = () => {
    asked++;
    return holds();
  };
  const steps = await openSteps(service, { holds, holdsNow });
  await planRows(steps, [row(key, desired(account))]);
  limit = suppressedFrom ?? limit;
  await happens?.(account);
  const last = lastRequest(service);
  service.sandbox.admin.faults(fault ? [fault] : []);
  // A search that may lag behind is not waited for.
  const clock = { ...realClock, sleep: async () => undefined };
  await applyPlan({ ...steps.session, clock }, steps.plan);
  expect({
    requests: requestsSince(service, last).map(toShort).join(", "),
    journal: (await steps.journal()).map(inWords).join(", "),
  }).toEqual({ requests, journal });
});

const names: Record<string, string> = {
  "POST /contact/search": "search",
  "POST /contact": "create",
  "GET /contact/:id": "read",
  "PUT /contact/:id/mutate": "mutate",
  "PATCH /contact/:id": "status",
  "DELETE /contact/:id": "delete",
};

function toShort(request: string): string {
  const [, what = "", answer] = /^(.+) (\S+)$/.exec(request)!;
  return `${names[what] ?? what} ${answer}`;
}

function inWords(record: JournalRecord): string {
  if (record.kind === "intent") return `intent ${record.operation.kind}`;
  if (record.kind === "done") return `done ${record.outcome}${record.code ? ` ${record.code}` : ""}`;
  return record.kind;
}
