/**
 * Finds the variants with which the sandbox answers like a recording: each value alone, the best one first. Where
 * that leads no further, each choice is exchanged for another one: it may have explained what two others do.
 */
import { type VariantName, variantDescriptions } from "../sandbox/variants.ts";
import { readFilters, toArray, toMembers } from "./members.ts";
import type { StepDifference, VariantChoice } from "./replay.ts";
import { isDone, type Step } from "./steps.ts";

export interface FoundVariants {
  variants: VariantChoice;
  /** What no variant explains. */
  differences: StepDifference[];
}

/** In place of a number that a recording does not have: the clock of a replay stands still. */
const someLag = "2000";

export async function searchVariants(
  steps: Step[],
  differences: StepDifference[],
  replayWith: (variants: VariantChoice) => Promise<StepDifference[]>,
): Promise<FoundVariants> {
  let found: FoundVariants = { variants: {}, differences };
  const candidates = listCandidates(steps);
  const findBetter = async (bases: VariantChoice[]) => {
    let best = found;
    const choices = bases.flatMap((base) =>
      candidates
        .filter(([name, value]) => !(name in base) && found.variants[name] !== value)
        .map(([name, value]) => ({ ...base, [name]: value })),
    );
    for (const variants of choices) {
      if (best.differences.length === 0) break;
      const differences = await replayWith(variants);
      if (differences.length < best.differences.length) best = { variants, differences };
    }
    return best === found ? undefined : best;
  };
  for (;;) {
    const better = (await findBetter([found.variants])) ?? (await findBetter(leaveOutEach(found.variants)));
    if (!better) return removeNeedless(found, replayWith);
    found = better;
  }
}

/** The choice without each of its variants in turn. */
function leaveOutEach(variants: VariantChoice): VariantChoice[] {
  return Object.keys(variants).map((name) => {
    const { [name]: _, ...others } = variants;
    return others;
  });
}

/** A later choice may imply an earlier one. */
async function removeNeedless(
  found: FoundVariants,
  replayWith: (variants: VariantChoice) => Promise<StepDifference[]>,
): Promise<FoundVariants> {
  if (Object.keys(found.variants).length < 2) return found;
  for (const variants of leaveOutEach(found.variants)) {
    const differences = await replayWith(variants);
    if (differences.length <= found.differences.length) {
      return removeNeedless({ variants, differences }, replayWith);
    }
  }
  return found;
}

/** Every value of every variant but the defaults; numbers and names as the recording suggests them. */
function listCandidates(steps: Step[]): [VariantName, string][] {
  const asked = steps.filter(({ leftOut }) => leftOut === undefined);
  const suggested: Partial<Record<VariantName, string[]>> = {
    "max-keys": suggestGreatest(asked, countKeys).map(String),
    page: [
      ...suggestGreatest(asked, findPageSize).map((size) => `refuse:${size}`),
      ...suggestCuts(asked).map((size) => `cap:${size}`),
    ],
    noop: suggestErrorTypes(asked),
    "search-lag": [someLag],
  };
  return variantDescriptions.flatMap(({ name, values }) =>
    (suggested[name] ?? values.slice(1).map(({ value }) => value)).map((value): [VariantName, string] => [
      name,
      value,
    ]),
  );
}

/** The greatest number that was accepted, where a greater one was refused. */
function suggestGreatest(steps: Step[], count: (step: Step) => number | undefined): number[] {
  const counted = steps
    .map((step) => ({ step, number: count(step) ?? 0 }))
    .filter(({ number }) => number > 0);
  const refused = counted.filter(({ step }) => step.exchange.status === 400).map(({ number }) => number);
  if (refused.length === 0) return [];
  const accepted = counted.filter(({ step }) => isDone(step)).map(({ number }) => number);
  const below = accepted.filter((number) => number < Math.max(...refused));
  const least = Math.min(...refused.filter((number) => !below.some((each) => each >= number)));
  return [below.length > 0 ? Math.max(...below) : Math.max(1, least - 1)];
}

function countKeys({ endpoint, exchange }: Step): number | undefined {
  if (endpoint?.id !== "searchContacts") return undefined;
  const filters = readFilters(exchange.body);
  return Math.max(filters.length, ...filters.flat().map(({ values }) => toArray(values).length));
}

function findPageSize({ exchange: { body, query = [] } }: Step): number | undefined {
  const { pageSize } = toMembers(body);
  if (typeof pageSize === "number") return pageSize;
  const size = query.find(([name]) => name === "size")?.[1];
  return size === undefined ? undefined : Number(size);
}

/** Numbers of records on pages that could have held more. */
function suggestCuts(steps: Step[]): number[] {
  const cuts = steps.flatMap((step) => {
    const { answer } = step.exchange;
    const { contacts, records } = toMembers(answer);
    const { length } = toArray(Array.isArray(answer) ? answer : (contacts ?? records));
    const size = findPageSize(step);
    return size !== undefined && length > 0 && length < size ? [length] : [];
  });
  return [...new Set(cuts)].sort((a, b) => b - a).slice(0, 3);
}

function suggestErrorTypes(steps: Step[]): string[] {
  const types = steps
    .filter(({ endpoint, exchange }) => endpoint?.id === "mutateContact" && exchange.status === 400)
    .map(({ exchange }) => toMembers(toArray(toMembers(exchange.answer).errors)[0]).errorType)
    .filter((type) => typeof type === "string" && type !== "ValidationError") as string[];
  return [...new Set(types)].slice(0, 3);
}
