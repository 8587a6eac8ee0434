/** Sends the steps of a recording to a fresh account of the sandbox, and compares what it answers. */
import { describeExchange, type RecordedExchange } from "../recording/exchange.ts";
import type { Pseudonyms } from "../recording/pseudonyms.ts";
import { inProcessTransport } from "../sandbox/transports/in-process.ts";
import type { World, Worlds } from "../sandbox/worlds.ts";
import { type CompareOptions, compareAnswers, type Difference } from "./compare.ts";
import type { MatchingState } from "./matching-state.ts";
import { readFilters, toArray, toMembers } from "./members.ts";
import { type Ids, seedState } from "./seed-state.ts";
import { formatEndpoint, isDone, type Step } from "./steps.ts";

export interface StepDifference extends Difference {
  /** Number of the exchange. */
  n: number;
  /** Such as `GET /api/contact/:contactId`. */
  endpoint: string;
}

/** Decisions as typed after `--variant`. */
export type VariantChoice = Record<string, string>;

export interface ReplayedRecording {
  worlds: Worlds;
  steps: Step[];
  state: MatchingState;
  now: number;
}

const baseUrl = "http://sandbox";
const timeoutMilliseconds = 60_000;
/** What the sandbox answers is made of the recording's own pseudonyms. */
const asTheyAre: Pseudonyms = { id: (text) => text, text: (text) => text, name: (text) => text };

export async function replay(
  { worlds, steps, state, now }: ReplayedRecording,
  variants: VariantChoice,
): Promise<StepDifference[]> {
  const world = await worlds.create({ variants });
  try {
    const ids = seedState(world.store, state, now);
    const limits = new CountedRequests();
    const pages = new Set<string>();
    const differences: StepDifference[] = [];
    for (const step of steps) {
      const seen = step.leftOut === undefined ? await ask(world, step, ids) : undefined;
      if (!seen) {
        limits.skip();
        continue;
      }
      if (isDone(step)) learnIds(ids, step.exchange.answer, seen.answer);
      const recorded = { ...step.exchange, answer: translate(step.exchange.answer, ids) };
      const found = [
        ...compareAnswers(recorded, seen, chooseOptions(step, state, pages)),
        ...limits.compare(recorded, seen),
      ];
      differences.push(
        ...found.map((difference) => ({ ...difference, n: step.n, endpoint: formatEndpoint(step) })),
      );
    }
    return differences;
  } finally {
    worlds.close(world.id);
  }
}

async function ask(world: World, { exchange }: Step, ids: Ids): Promise<RecordedExchange> {
  const { method, path, query = [] } = exchange;
  const translated = path.split("/").map((segment) => ids.get(segment) ?? segment);
  const parameters = new URLSearchParams(query);
  const target = `${translated.join("/")}${query.length > 0 ? `?${parameters}` : ""}`;
  const body = exchange.body === undefined ? undefined : JSON.stringify(translate(exchange.body, ids));
  const answer = await inProcessTransport(world)({
    method,
    url: `${baseUrl}${target}`,
    headers: { "X-API-Key": world.apiKey, ...(body !== undefined && { "Content-Type": "application/json" }) },
    body,
    timeoutMilliseconds,
  });
  return describeExchange({ method, target, body, answer }, asTheyAre);
}

/** With the ids of the sandbox in place of those of the recording. */
function translate(value: unknown, ids: Ids): unknown {
  if (typeof value === "string") return ids.get(value) ?? value;
  if (Array.isArray(value)) return value.map((each) => translate(each, ids));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, translate(each, ids)]));
}

/** What was created has an id of its own in the recording and in the sandbox. */
function learnIds(ids: Ids, recorded: unknown, seen: unknown): void {
  const taken = new Set(ids.values());
  const pair = (was: unknown, is: unknown) => {
    const [{ _id: id }, { _id: other }] = [toMembers(was), toMembers(is)];
    if (typeof id !== "string" || typeof other !== "string" || ids.has(id) || taken.has(other)) return;
    ids.set(id, other);
    taken.add(other);
  };
  pair(recorded, seen);
  for (const name of ["fields", "tags"]) {
    const others = toArray(toMembers(seen)[name]);
    for (const [index, each] of toArray(toMembers(recorded)[name]).entries()) pair(each, others[index]);
  }
}

/** @param pages those that the recording has so far; this one is added */
function chooseOptions(
  { endpoint, exchange }: Step,
  { unseen }: MatchingState,
  pages: Set<string>,
): CompareOptions {
  const criterias = readFilters(exchange.body).flat();
  const isByKey = criterias.some(({ columnToFilter }) => columnToFilter === "KEY");
  const id = endpoint?.id;
  // What happened before the recording is not in it.
  const isFeed = id?.includes("Events");
  const { records, total } = toMembers(exchange.answer);
  const isWhole = records === undefined ? unseen === 0 : toArray(records).length === total;
  return {
    isUnknown: endpoint === undefined,
    isChange: id === "mutateContact" || id === "setContactStatus",
    hasOrder: !exchange.query?.some(([name]) => name === "sort"),
    hasTotals: !isFeed && (isByKey || (isWhole && criterias.length === 0)),
    hasRecords: !isFeed && followsKnownPages(exchange, pages),
  };
}

/** Whether it is a first page, or the recording has the page before it. */
function followsKnownPages({ path, query = [], body }: RecordedExchange, pages: Set<string>): boolean {
  const { page: inBody, ...rest } = toMembers(body);
  const page = Number(inBody ?? query.find(([name]) => name === "page")?.[1] ?? 1);
  const others = query.filter(([name]) => name !== "page");
  const toName = (number: number) => JSON.stringify([path, others, rest, number]);
  const isKnown = page === 1 || pages.has(toName(page - 1));
  if (isKnown) pages.add(toName(page));
  return isKnown;
}

/** Whether a request counts towards the hourly limit, where the recording shows two in a row. */
class CountedRequests {
  private before: { was: number; is: number } | undefined;

  skip(): void {
    this.before = undefined;
  }

  compare(recorded: RecordedExchange, seen: RecordedExchange): Difference[] {
    const [was, is] = [recorded, seen].map(({ headers }) => headers?.["x-ratelimit-remaining"]);
    const { before } = this;
    this.before = typeof was === "number" && typeof is === "number" ? { was, is } : undefined;
    if (!before || !this.before) return [];
    const [counted, other] = [before.was - this.before.was, before.is - this.before.is];
    // Others use the account too, and its window ends.
    if (counted === other || counted < 0 || counted > 1) return [];
    const describe = (count: number) => (count === 1 ? "counted" : "not counted");
    return [{ rule: "limits", place: "request", recorded: describe(counted), sandbox: describe(other) }];
  }
}
