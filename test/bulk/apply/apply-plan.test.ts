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

const importing = ({ city }: Ada): Partial<Desired> => ({ values: toValues({ fields: [[city, "Rome"]] }) });
const unsubscribing = (): Partial<Desired> => ({ end: "unsubscribe", absent: { skip: "missing" } });
const deleting = (): Partial<Desired> => ({ end: "delete", absent: { skip: "missing" } });

interface Case {
  key: string;
  work: (of: Ada) => Partial<Desired>;
  /** Between the plan and its application. */
  meanwhile?: (of: Ada) => Promise<unknown>;
  faults?: string[];
  /** After so many questions whether the person is. */
  suppressedAfter?: number;
  requests: string[];
  journal: string[];
}

const create = async ({ service, city }: Ada) => {
  const [structure] = await call<{ _id: string }[]>(service, "GET", "/api/contact-structure");
  const body = { key: nobody, contactStructureId: structure!._id, fields: [{ _id: city, value: "Rome" }] };
  await call(service, "POST", "/api/contact", body);
};

const [search, post] = ["POST /contact/search", "POST /contact"];
const [read, mutate] = ["GET /contact/:id", "PUT /contact/:id/mutate"];
const [patch, remove] = ["PATCH /contact/:id", "DELETE /contact/:id"];
let isSuppressed = false;

it.each<[string, Case]>([
  [
    "a create",
    { key: nobody, work: importing, requests: [`${post} 200`], journal: ["intent create", "done created"] },
  ],
  [
    "a create whose answer is lost is sent again, and its refusal tells whose the contact is",
    {
      key: nobody,
      work: importing,
      faults: ["reset-after:POST:/api/contact:n=1"],
      requests: [`${post} reset-after`, `${post} 400`, `${search} 200`],
      journal: ["intent create", "intent create", "done created"],
    },
  ],
  [
    "a create that never arrives is sent again",
    {
      key: nobody,
      work: importing,
      faults: ["reset-before:POST:/api/contact:n=1"],
      requests: [`${post} reset-before`, `${post} 200`],
      journal: ["intent create", "intent create", "done created"],
    },
  ],
  [
    "a create of somebody whom others have created since is decided again",
    {
      key: nobody,
      work: importing,
      meanwhile: create,
      requests: [`${post} 400`, `${search} 200`],
      journal: ["intent create", "void", "done unchanged"],
    },
  ],
  [
    "a create of somebody who was suppressed since is not sent",
    {
      key: nobody,
      work: importing,
      meanwhile: async () => {
        isSuppressed = true;
      },
      requests: [`${search} 200`],
      journal: ["done skipped suppressed"],
    },
  ],
  [
    "a lost create of somebody who was suppressed since is looked for, and not sent again",
    {
      key: nobody,
      work: importing,
      faults: ["reset-after:POST:/api/contact:n=1"],
      suppressedAfter: 2,
      requests: [`${post} reset-after`, `${search} 200`],
      journal: ["intent create", "done created"],
    },
  ],
  [
    "a create that never arrives, of somebody who was suppressed since, is looked for again",
    {
      key: nobody,
      work: importing,
      faults: ["reset-before:POST:/api/contact:n=1"],
      suppressedAfter: 2,
      requests: [`${post} reset-before`, ...Array(4).fill(`${search} 200`)],
      journal: ["intent create", "done skipped suppressed"],
    },
  ],
  [
    "a change",
    { key: ada, work: importing, requests: [`${mutate} 200`], journal: ["intent change", "done updated"] },
  ],
  [
    "a change whose answer is lost is looked for in the contact",
    {
      key: ada,
      work: importing,
      faults: ["reset-after:PUT:*:n=1"],
      requests: [`${mutate} reset-after`, `${read} 200`],
      journal: ["intent change", "done updated"],
    },
  ],
  [
    "a change that never arrives is looked for, and sent again",
    {
      key: ada,
      work: importing,
      faults: ["reset-before:PUT:*:n=1"],
      requests: [`${mutate} reset-before`, `${read} 200`, `${mutate} 200`],
      journal: ["intent change", "intent change", "done updated"],
    },
  ],
  [
    "a contact that is gone is not made anew",
    {
      key: ada,
      work: importing,
      meanwhile: ({ service, id }) => service.ecm(["api", "DELETE", `/api/contact/${id}`, "--yes"]),
      requests: [`${mutate} 404`, `${search} 200`],
      journal: ["intent change", "void", "done skipped changed"],
    },
  ],
  [
    "an unsubscription",
    {
      key: ada,
      work: unsubscribing,
      requests: [`${search} 200`, `${patch} 200`],
      journal: ["intent unsubscribe", "done updated"],
    },
  ],
  [
    "an unsubscription whose answer is lost is looked for in the contact",
    {
      key: ada,
      work: unsubscribing,
      faults: ["reset-after:PATCH:*:n=1"],
      requests: [`${search} 200`, `${patch} reset-after`, `${read} 200`],
      journal: ["intent unsubscribe", "done updated"],
    },
  ],
  [
    "a deletion",
    {
      key: ada,
      work: deleting,
      requests: [`${search} 200`, `${remove} 200`],
      journal: ["intent delete", "done deleted"],
    },
  ],
  [
    "a deletion whose answer is lost is looked for by the id",
    {
      key: ada,
      work: deleting,
      faults: ["reset-after:DELETE:*:n=1"],
      requests: [`${search} 200`, `${remove} reset-after`, `${read} 404`],
      journal: ["intent delete", "done deleted"],
    },
  ],
  [
    "what is refused is rejected",
    {
      key: ada,
      work: () => ({ values: toValues({ fields: [["0123456789abcdef01234567", "x"]] }) }),
      requests: [`${mutate} 400`],
      journal: ["intent change", "done rejected ValidationError"],
    },
  ],
])("%s", async (_what, { key, work, meanwhile, faults = [], suppressedAfter, requests, journal }) => {
  isSuppressed = false;
  const account = await startAdasAccount();
  const { service } = account;
  let asked = 0;
  const holds = () => isSuppressed || asked > (suppressedAfter ?? Number.POSITIVE_INFINITY);
  const holdsNow = () => {
    asked++;
    return holds();
  };
  const steps = await openSteps(service, { holds, holdsNow });
  await planRows(steps, [row(key, work(account))]);
  await meanwhile?.(account);
  const last = lastRequest(service);
  service.sandbox.admin.faults(faults);
  // A search that may lag behind is not waited for.
  const clock = { ...realClock, sleep: async () => undefined };
  await applyPlan({ ...steps.session, clock }, steps.plan);
  expect({
    requests: requestsSince(service, last),
    journal: (await steps.journal()).map(inWords),
  }).toEqual({ requests, journal });
});

function inWords(record: JournalRecord): string {
  if (record.kind === "intent") return `intent ${record.operation.kind}`;
  if (record.kind === "done") return `done ${record.outcome}${record.code ? ` ${record.code}` : ""}`;
  return record.kind;
}
