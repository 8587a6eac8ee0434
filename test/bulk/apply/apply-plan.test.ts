/** The apply step: a line of a plan and what has happened since in, requests and journal out. */

import { expect, it } from "vitest";
import { applyPlan } from "../../../src/bulk/apply/apply-plan.ts";
import type { Desired } from "../../../src/bulk/desired.ts";
import type { JournalRecord } from "../../../src/bulk/runs/journal.ts";
import { toValues } from "../../../src/bulk/values.ts";
import { realClock } from "../../../src/clock.ts";
import { call } from "../kit.ts";
import type { Ada } from "../steps-kit.ts";
import { lastRequest, openSteps, planRows, requestsSince, row, startAdasAccount } from "../steps-kit.ts";

const ada = "ada@example.com";
const nobody = "nobody@example.com";

/** Who is meant, and what is wanted of them. */
interface Work {
  key: string;
  desired: (of: Ada) => Partial<Desired>;
}
const toRome = ({ city }: Ada) => ({ values: toValues({ fields: [[city, "Rome"]] }) });
const toUnknown = () => ({ values: toValues({ fields: [["0123456789abcdef01234567", "x"]] }) });
const ending = (end: "unsubscribe" | "delete") => () => ({ end, absent: { skip: "missing" } }) as const;
const works: Record<string, Work> = {
  creating: { key: nobody, desired: toRome },
  changing: { key: ada, desired: toRome },
  breaking: { key: ada, desired: toUnknown },
  unsubscribing: { key: ada, desired: ending("unsubscribe") },
  deleting: { key: ada, desired: ending("delete") },
};

/** What others do between the plan and its application. */
const happenings: Record<string, (of: Ada) => Promise<unknown>> = {
  "they create": ({ service, city }) => {
    const { structureId } = service.sandbox;
    const body = { key: nobody, contactStructureId: structureId, fields: [{ _id: city, value: "Rome" }] };
    return call(service, "POST", "/api/contact", body);
  },
  "they delete": ({ service, id }) => service.ecm(`api DELETE /api/contact/${id} --yes`),
  "they add a list": ({ service, id }) => service.ecm(`contact mutate ${id} --add-list News`),
  "they set the value": ({ service, id }) => service.ecm(`contact mutate ${id} --set City=Rome`),
};
/** From which question on whether the person is suppressed. */
const suppressions: Record<string, number> = { suppressed: 0, "suppressed since": 3 };

/** Each over its work, what happens meanwhile, the requests with their answers or losses, and the journal. */
const cases = `
a create
  creating | | create 200 | intent create, done created
a create whose answer is lost is sent again, and its refusal tells whose the contact is
  creating | | create reset-after, create 400, search 200 | intent create, intent create, done created
a create that never arrives is sent again
  creating | | create reset-before, create 200 | intent create, intent create, done created
a create of somebody whom others have created since is decided again
  creating | they create | create 400, search 200 | intent create, void, done unchanged
who is suppressed is not made
  creating | suppressed | search 200 | done skipped suppressed
a lost create of somebody who was suppressed since is looked for, and not sent again
  creating | suppressed since | create reset-after, search 200 | intent create, done created
a create that never arrives, of somebody who was suppressed since, is looked for again
  creating | suppressed since | create reset-before, search 200, search 200, search 200, search 200 \
    | intent create, done skipped suppressed
a change
  changing | | mutate 200 | intent change, done updated
a change whose answer is lost is looked for in the contact
  changing | | mutate reset-after, read 200 | intent change, done updated
a change that never arrives is looked for, and sent again
  changing | | mutate reset-before, read 200, mutate 200 | intent change, intent change, done updated
a contact that is gone is not made anew
  changing | they delete | mutate 404, search 200 | intent change, void, done skipped changed
a change of a contact in which others have changed something else
  changing | they add a list | mutate 200 | intent change, done updated
a change that others have made since is not made again
  changing | they set the value | mutate 400, read 200 | intent change, done unchanged
an unsubscription
  unsubscribing | | search 200, status 200 | intent unsubscribe, done updated
an unsubscription whose answer is lost is looked for in the contact
  unsubscribing | | search 200, status reset-after, read 200 | intent unsubscribe, done updated
a deletion
  deleting | | search 200, delete 200 | intent delete, done deleted
a deletion whose answer is lost is looked for by the id
  deleting | | search 200, delete reset-after, read 404 | intent delete, done deleted
what is refused is rejected
  breaking | | mutate 400 | intent change, done rejected ValidationError`;

const rows = Array.from(cases.matchAll(/^(\S.*)\n {2}(\S.*)$/gm), ([, what, row]) => [
  what!,
  ...row!.split("|").map((part) => part.trim()),
]) as [what: string, work: string, meanwhile: string, requests: string, journal: string][];

it.each(rows)("%s", async (_what, work, meanwhile, requests, journal) => {
  const account = await startAdasAccount();
  const { service } = account;
  const { key, desired } = works[work]!;
  let [asked, limit] = [0, Number.POSITIVE_INFINITY];
  const holds = () => asked >= limit;
  const holdsNow = () => {
    asked++;
    return holds();
  };
  const steps = await openSteps(service, { holds, holdsNow });
  await planRows(steps, [row(key, desired(account))]);
  limit = suppressions[meanwhile] ?? limit;
  await happenings[meanwhile]?.(account);
  const last = lastRequest(service);
  service.sandbox.admin.faults(lossesOf(requests));
  // A search that may lag behind is not waited for.
  const clock = { ...realClock, sleep: async () => undefined };
  await applyPlan({ ...steps.session, clock }, steps.plan);
  expect({
    requests: requestsSince(service, last).map(toShort).join(", "),
    journal: (await steps.journal()).map(inWords).join(", "),
  }).toEqual({ requests, journal });
});

it("has eighteen cases", () => expect(rows).toHaveLength(18));

const names: Record<string, string> = {
  "POST /contact/search": "search",
  "POST /contact": "create",
  "GET /contact/:id": "read",
  "PUT /contact/:id/mutate": "mutate",
  "PATCH /contact/:id": "status",
  "DELETE /contact/:id": "delete",
};

/** The fault that loses the first of such requests. */
function lossesOf(requests: string): string[] {
  const [, name, loss] = /(\w+) (reset-\w+)/.exec(requests) ?? [];
  const [request] = Object.entries(names).find(([, short]) => short === name) ?? [];
  return request ? [`${loss}:${request.replace(" ", ":/api").replace(":id", "*")}:n=1`] : [];
}

function toShort(request: string): string {
  const [, what = "", answer] = /^(.+) (\S+)$/.exec(request)!;
  return `${names[what] ?? what} ${answer}`;
}

function inWords(record: JournalRecord): string {
  if (record.kind === "intent") return `intent ${record.operation.kind}`;
  if (record.kind === "done") return `done ${record.outcome}${record.code ? ` ${record.code}` : ""}`;
  return record.kind;
}
