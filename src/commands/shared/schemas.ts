/**
 * What programs read of this one, as JSON Schemas (draft 2020-12): `ecm commands --schemas`. Members that are
 * not named here may come later; a reader must pass over them. The types hold the names and the choices, a
 * test holds real outputs against the rest.
 */

import type {
  PlanChange,
  PlanEnd,
  PlanHead,
  PlanLine,
  RowCounts,
  RunStop,
  Summary,
} from "../../bulk/index.ts";
import { type Applied, exitCodes, type LimitKind } from "../../errors.ts";
import { schemaVersion } from "../../version.ts";

export type Schema = Record<string, unknown>;
type Members<T> = Record<keyof T, Schema>;
type Choices<T extends string> = Record<T, true>;

const text: Schema = { type: "string" };
const textOrNull: Schema = { type: ["string", "null"] };
const count: Schema = { type: "integer", minimum: 0 };
const time: Schema = { type: "string", format: "date-time" };

const row: Members<RowCounts> = {
  read: count,
  created: count,
  updated: count,
  deleted: count,
  unchanged: count,
  skipped: count,
  rejected: count,
  pending: count,
};
const requests: Members<Summary["requests"]> = {
  search: count,
  create: count,
  mutate: count,
  other: count,
  retried: count,
  total: count,
};
const status: Choices<Summary["status"]> = { completed: true, stopped: true, "dry-run": true };
const stoppedBy: Choices<RunStop["by"]> = {
  hour: true,
  month: true,
  address: true,
  "max-requests": true,
  until: true,
  signal: true,
  error: true,
  lock: true,
  "max-rejects": true,
};
const consent: Members<Summary["consent"]> = {
  not_subscribed: count,
  suppressed: count,
  inactive: count,
  marked: count,
};
const byCode: Schema = { type: "object", additionalProperties: count };

const origin = {
  program: { ...text, description: "version of ecm" },
  schema: { const: schemaVersion, description: "version of these schemas" },
};
const summary: Members<Required<Summary> & typeof origin> = {
  run: { ...textOrNull, description: "the run's id; null in a dry run" },
  kind: text,
  status: choiceSchema(status),
  file: { ...text, description: "the input as it was named" },
  rows: { ...objectSchema(row), description: "of the whole run; read is the sum of the others" },
  requests: { ...objectSchema(requests), description: "of this invocation" },
  estimate: objectSchema({ requests: count, seconds: { type: "number", minimum: 0 } }),
  rejects: { ...textOrNull, description: "path of the rejects file" },
  backup: { ...text, description: "path of the backup of the deleted contacts" },
  stoppedBy: { enum: [...Object.keys(stoppedBy), null] },
  resumableAt: { ...time, description: "when the limit that stopped it allows requests again" },
  codes: objectSchema({ skipped: byCode, rejected: byCode }),
  inactive: count,
  consent: objectSchema(consent),
  lacking: { ...count, description: "of a dry run: new contacts without a value for a required field" },
  partial: { ...count, description: "of an undo: contacts of updated that were restored in part" },
  members: { ...objectSchema({ added: count, removed: count }), description: "of a list sync" },
  ...origin,
};

const action: Choices<PlanLine["action"]> = {
  create: true,
  update: true,
  delete: true,
  unchanged: true,
  skip: true,
  reject: true,
};
const what: Choices<PlanChange["what"]> = { field: true, tag: true, list: true, status: true };
const change: Members<PlanChange> = {
  what: choiceSchema(what),
  name: text,
  before: { type: ["string", "boolean", "null"], description: "null where it is not known" },
  after: { type: ["string", "boolean"] },
};
const planLine: Members<PlanLine & { apply: unknown }> = {
  line: { type: ["integer", "null"], description: "of the input; null where there is none" },
  key: text,
  contactId: textOrNull,
  action: choiceSchema(action),
  code: textOrNull,
  message: textOrNull,
  changes: { type: "array", items: objectSchema(change) },
  movesFrom: { ...text, description: "of a contact that takes the place of another: the key of that one" },
  consent: {
    ...objectSchema(
      {
        columns: { type: "array", items: objectSchema({ column: text, said: text }) },
        overriddenBy: { type: "array", items: text },
        input: text,
        line: count,
      },
      ["columns", "input", "line"],
    ),
    description: "of a contact that an input creates: what that says of their consent",
  },
  lacks: { type: "array", items: text, description: "of a create: required fields without a value" },
  apply: {
    type: "object",
    description: "in a plan file, of a contact that is written: what ecm apply sends",
  },
};

const texts: Schema = { type: "array", items: text };
const namesById: Schema = { type: "object", additionalProperties: text };
const planHead: Members<Omit<PlanHead, "table">> = {
  version: { const: 1 },
  program: { ...text, description: "version of ecm" },
  kind: text,
  command: { ...texts, description: "its words, without values" },
  account: objectSchema({ baseUrl: text, structureId: text, keyType: text }),
  input: {
    anyOf: [objectSchema({ sha256: text, size: count }), { type: "null" }],
    description: "null where no file names the contacts",
  },
  mapping: {
    ...objectSchema({
      digest: text,
      columns: { ...namesById, description: "column: target" },
      entries: { type: "array", items: { type: "object" }, description: "how values are made" },
      defaults: { type: "array", items: texts },
    }),
    description: "how the values of rows were made, where it was said",
  },
  createdAt: time,
  names: {
    ...objectSchema({ fields: namesById, lists: namesById, tags: namesById }),
    description: "names by id",
  },
  source: { ...texts, description: "parts of a contact that ecm apply looks at" },
  listIds: texts,
  // What --max-remove is held against, and what it allowed.
  removals: objectSchema({ members: count, allowed: { type: "object" } }, ["members"]),
};
const planCreation = objectSchema({ what: { enum: ["list", "tag", "field"] }, name: text, dataType: text }, [
  "what",
  "name",
]);
const digest: Schema = { type: "string", pattern: "^sha256:[0-9a-f]{64}$" };
const planEnd: Members<Pick<PlanEnd, "counts" | "requests" | "digest">> = {
  counts: { ...objectSchema(recordSchema(Object.keys(action), count)), description: "lines by action" },
  requests: { ...count, description: "that applying it takes" },
  digest: { ...digest, description: "of all bytes before this line" },
};

const applied: Choices<Applied> = { no: true, yes: true, unknown: true };
const limit: Choices<LimitKind> = { hour: true, month: true, address: true };
const error: Schema = objectSchema(
  {
    type: { ...text, description: "stable; the service's own errorType where there is one" },
    message: text,
    exitCode: { enum: Object.values(exitCodes).filter((code) => code !== exitCodes.done) },
    retryable: { type: "boolean", description: "the same command may succeed later without a change" },
    status: { type: "integer", description: "of the service's answer" },
    field: text,
    fieldId: text,
    hint: { ...text, description: "what to do next" },
    fix: {
      type: "array",
      items: text,
      description: "the command that leads on, word by word; only where running it is safe",
    },
    retryAfterSeconds: { type: "number", minimum: 0 },
    resumableAt: { ...time, description: "when a bulk run that a limit stopped can be resumed" },
    limit: choiceSchema(limit),
    applied: { ...choiceSchema(applied), description: "whether a write was carried out" },
    foreign: {
      type: "array",
      items: text,
      description: "members that hold words of the service or of others",
    },
  },
  ["type", "message", "exitCode", "retryable"],
);

const part = objectSchema(
  {
    shown: count,
    total: { ...count, description: "left out where only reading everything could tell" },
    more: { type: "array", items: text, description: "flags that show what follows" },
  },
  ["shown", "more"],
);

/** Each with what it is of. */
export const schemas = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $defs: {
    summary: {
      description: "stdout of a bulk run with --json",
      ...objectSchema(
        summary,
        Object.keys(summary).filter(
          (name) => !["backup", "lacking", "partial", "members", "resumableAt"].includes(name),
        ),
      ),
    },
    planLine: {
      description: "one contact in a file of --plan, and in runs show --changes",
      ...objectSchema(
        planLine,
        Object.keys(planLine).filter((name) => !["apply", "consent", "movesFrom", "lacks"].includes(name)),
      ),
    },
    planHead: {
      description: "the first line of a file of --plan",
      ...objectSchema({
        plan: objectSchema(
          planHead,
          Object.keys(planHead).filter((name) => name !== "mapping" && name !== "removals"),
        ),
      }),
    },
    planCreation: {
      description: "the lines after it: what is created in the account first",
      ...objectSchema({ create: planCreation }),
    },
    planEnd: { description: "its last line", ...objectSchema({ end: objectSchema(planEnd) }) },
    error: {
      description: "the last line on stderr after a failure, with --json",
      ...objectSchema({ error }),
    },
    part: {
      description: "a line on stderr where a list on stdout is only a part, with --json",
      ...objectSchema({ part }),
    },
    limits: {
      description: "stdout of limits --json; {} when nothing was seen yet",
      ...objectSchema(
        {
          hour: objectSchema({ limit: count, remaining: count, reset: time }, ["limit", "remaining"]),
          month: objectSchema({ limit: count, remaining: count }),
          seenAt: time,
        },
        [],
      ),
    },
  },
} as const;

/** Which of the schemas a command's outputs follow. @param flags that it takes */
export function listSchemas(command: string, flags: readonly string[]): Record<string, string> {
  return {
    ...(flags.includes("--max-requests") ? { bulkRun: "summary" } : {}),
    ...(flags.includes("--plan")
      ? { plan: "planLine", planHead: "planHead", planCreation: "planCreation", planEnd: "planEnd" }
      : {}),
    ...(command === "runs show" ? { changes: "planLine" } : {}),
    ...(command === "limits" ? { stdout: "limits" } : {}),
    error: "error",
  };
}

function objectSchema(
  properties: Record<string, Schema>,
  required: string[] = Object.keys(properties),
): Schema {
  return { type: "object", properties, required };
}

function recordSchema(names: readonly string[], each: Schema): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, each]));
}

function choiceSchema(names: Record<string, true>): Schema {
  return { enum: Object.keys(names) };
}
