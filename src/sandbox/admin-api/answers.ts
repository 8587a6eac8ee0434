/** The schemas of the answers below /__sandbox/, for their description. */
import * as v from "valibot";
import { statusAnswer } from "../rules/answers.ts";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const time = v.pipe(v.string(), v.isoTimestamp());
const texts = v.array(v.string());
const valuesByName = v.record(v.string(), v.string());

export const healthAnswer = v.object({ status: v.literal("ok"), version: v.string(), clock: time });

export const loggedRequest = v.object({
  n: count,
  time,
  method: v.string(),
  path: v.string(),
  query: v.record(v.string(), v.union([v.string(), texts])),
  headers: valuesByName,
  body: v.unknown(),
  status: v.nullable(count),
  answer: v.unknown(),
  milliseconds: v.number(),
  fault: v.nullable(v.string()),
});
export const loggedRequests = v.array(loggedRequest);

export const resetAnswer = v.object({ structureId: v.string() });

const changedCount = v.object({ created: count, updated: count });
export const seedAnswer = v.object({
  contacts: changedCount,
  campaigns: v.optional(changedCount),
  templates: v.optional(changedCount),
  domains: v.optional(changedCount),
});

export const snapshotAnswer = v.object({ name: v.string(), savedAt: time, bytes: count });
export const snapshotsAnswer = v.array(snapshotAnswer);
export const clockAnswer = v.object({ time, real: v.boolean() });
export const faultsAnswer = v.object({ faults: texts });
export const limitsAnswer = v.object({
  hourly: count,
  windowSeconds: count,
  monthly: count,
  used: v.object({ hour: count, month: count }),
});
export const eventAnswer = v.object({
  type: v.string(),
  timestamp: time,
  contact: v.object({ _id: v.string(), key: v.string(), status: statusAnswer }),
});
export const worldAnswer = v.object({
  id: v.string(),
  baseUrl: v.string(),
  apiKey: v.string(),
  structureId: v.string(),
});
export const worldsAnswer = v.array(worldAnswer);

/** OpenAPI has a schema of its own. */
export const descriptionAnswer = v.record(v.string(), v.unknown());

export const overviewAnswer = v.object({
  version: v.string(),
  clock: clockAnswer,
  limits: limitsAnswer,
  account: v.object({
    total: count,
    contacts: v.array(
      v.object({
        key: v.string(),
        status: statusAnswer,
        fields: valuesByName,
        lists: texts,
        tags: texts,
      }),
    ),
    lists: v.array(v.object({ name: v.string(), contacts: count })),
    campaigns: v.array(v.object({ name: v.string(), status: v.string(), sent: count, opened: count })),
    templates: v.array(v.object({ name: v.string() })),
    domains: v.array(v.object({ name: v.string(), missing: texts })),
  }),
});
