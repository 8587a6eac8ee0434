/** Faults on purpose: what goes wrong, for which requests, and how often; the same seed goes wrong the same way. */
import { UsageError } from "../errors.ts";

const faultKinds = ["reset-before", "reset-after", "500", "503", "429", "delay", "truncate"] as const;
export type FaultKind = (typeof faultKinds)[number];

/** What befalls one request. */
export interface Fault {
  kind: FaultKind;
  /** Length of a delay, or what a 429 asks to wait. */
  seconds: number;
}

/** The fault that befalls the next request of this method and path, if any. Counts as it is asked. */
export type FaultsOf = (method: string, path: string) => Fault | undefined;

interface Plan extends Fault {
  method: string;
  path: RegExp;
  /** Which of the matching requests, counted from 1. */
  strikes(count: number): boolean;
}

/** The grammar, for people. */
export const faultHelp = `A fault is KIND[:METHOD[:PATH]][:n=N|:first=N|:p=P[:seed=N]][:seconds=S], for example
  reset-after:POST:/api/contact:n=3        the third create is applied, then the connection is dropped
  503:*:/api/contact/search:first=2        the first two searches fail
  delay:PUT:/api/contact/*/mutate:seconds=5
  500:*:*:p=0.1:seed=7                     one request in ten, the same ones each time
KIND is ${faultKinds.join(", ")}.
METHOD and PATH may be *, and * matches any part of a path. Without a count, every request is affected.`;

/** The faults that befall requests now; they can be changed while the service runs. */
export interface Faults {
  of: FaultsOf;
  /** As typed after `--fault`. */
  specs(): string[];
  /** Counting begins anew. @throws UsageError; then the faults stay as they were */
  set(specs: string[]): void;
  /** As they were when the process started. */
  restore(): void;
}

/** @throws UsageError naming the flag and what is wrong with the fault */
export function changeableFaults(initial: string[]): Faults {
  let specs = initial;
  let faultsOf = planFaults(initial);
  const set = (wanted: string[]) => {
    faultsOf = planFaults(wanted);
    specs = wanted;
  };
  return {
    of: (method, path) => faultsOf(method, path),
    specs: () => specs,
    set,
    restore: () => set(initial),
  };
}

/** @throws UsageError naming the flag and what is wrong with the fault */
export function planFaults(specs: string[]): FaultsOf {
  const plans = specs.map((spec) => ({ plan: parse(spec), count: 0 }));
  return (method, path) => {
    let fault: Fault | undefined;
    for (const entry of plans) {
      const { plan } = entry;
      if ((plan.method !== "*" && plan.method !== method) || !plan.path.test(path)) continue;
      entry.count += 1;
      // Every plan counts every request that it speaks of, so that one does not shift another.
      const strikes = plan.strikes(entry.count);
      if (strikes) fault ??= { kind: plan.kind, seconds: plan.seconds };
    }
    return fault;
  };
}

function parse(spec: string): Plan {
  const [kind, ...parts] = spec.split(":");
  if (!faultKinds.includes(kind as FaultKind)) throw bad(spec, `there is no fault ${JSON.stringify(kind)}`);
  const isOption = (part: string) => /^[a-z]+=/.test(part);
  const firstOption = parts.findIndex(isOption);
  const places = firstOption === -1 ? parts : parts.slice(0, firstOption);
  const options = readOptions(spec, firstOption === -1 ? [] : parts.slice(firstOption));
  const [method = "*", path = "*", ...rest] = places;
  if (rest.length > 0)
    throw bad(spec, `${JSON.stringify(rest[0])} is neither a method, a path nor NAME=VALUE`);
  if (!/^(\*|[A-Z]+)$/.test(method))
    throw bad(spec, `${JSON.stringify(method)} is not a method in capitals, or *`);
  if (!/^(\*|\/)/.test(path)) throw bad(spec, `the path ${JSON.stringify(path)} does not start with / or *`);
  return {
    kind: kind as FaultKind,
    seconds: options.get("seconds") ?? 1,
    method,
    path: new RegExp(`^${path.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`),
    strikes: strikesBy(options),
  };
}

const counts = ["n", "first", "p"];

function readOptions(spec: string, parts: string[]): Map<string, number> {
  const options = new Map<string, number>();
  for (const part of parts) {
    const [, name = part, text = ""] = /^([a-z]+)=(.*)$/.exec(part) ?? [];
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    const isGood =
      name === "p"
        ? value >= 0 && value <= 1
        : name === "seconds"
          ? value <= 86_400
          : name === "seed"
            ? Number.isSafeInteger(value)
            : (name === "n" || name === "first") && Number.isSafeInteger(value) && value >= 1;
    if (!isGood) throw bad(spec, `${JSON.stringify(part)} is not n=N, first=N, p=0..1, seed=N or seconds=S`);
    if (options.has(name)) throw bad(spec, `${name} is given twice`);
    options.set(name, value);
  }
  if (counts.filter((name) => options.has(name)).length > 1)
    throw bad(spec, "give only one of n, first and p");
  if (options.has("seed") && !options.has("p")) throw bad(spec, "seed needs p");
  return options;
}

function strikesBy(options: Map<string, number>): Plan["strikes"] {
  const [n, first, p] = counts.map((name) => options.get(name));
  if (n !== undefined) return (count) => count === n;
  if (first !== undefined) return (count) => count <= first;
  if (p !== undefined) {
    const next = randomFrom(options.get("seed") ?? 1);
    return () => next() < p;
  }
  return () => true;
}

/** Numbers in 0…1 that look random and follow from the seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function bad(spec: string, why: string): UsageError {
  return new UsageError(`--fault ${JSON.stringify(spec)}: ${why}`, "See: ecm sandbox start --help");
}
