/**
 * Simulated faults: which fault, for which requests, and how often. With the same seed the same requests are
 * affected.
 */
import { type EcmError, isKind, usageError } from "../errors.ts";
import { advise, ecm } from "../hint.ts";

const faultKinds = ["reset-before", "reset-after", "500", "503", "429", "delay", "truncate"] as const;
type FaultKind = (typeof faultKinds)[number];

/** The fault of one request. */
export interface Fault {
  kind: FaultKind;
  /** Length of a delay, or the `Retry-After` of a 429. */
  seconds: number;
}

/** The fault of the next request of this method and path, if any. Each call counts as a request. */
type FaultPicker = (method: string, path: string) => Fault | undefined;

interface Plan extends Fault {
  method: string;
  path: RegExp;
  /** Whether the request of this number among the matching ones, counted from 1, is affected. */
  affects(count: number): boolean;
}

/** The faults that are simulated now; they can be changed while the service runs. */
export class Faults {
  private readonly initial: string[];
  private current: string[];
  private pickFault: FaultPicker;

  /** @throws UsageError naming the flag and what is wrong with the fault */
  constructor(initial: string[]) {
    this.initial = initial;
    this.current = initial;
    this.pickFault = planFaults(initial);
  }

  /** The fault of the next request of this method and path, if any. Each call counts as a request. */
  pick(method: string, path: string): Fault | undefined {
    return this.pickFault(method, path);
  }

  /** As typed after `--fault`. */
  specs(): string[] {
    return this.current;
  }

  /** Counting starts over. @throws UsageError; then the faults stay as they were */
  set(specs: string[]): void {
    this.pickFault = planFaults(specs);
    this.current = specs;
  }

  /** Sets the faults back to those of the start of the process. */
  restore(): void {
    this.set(this.initial);
  }
}

/** What is wrong with a fault, in words that name it; undefined where it can be simulated. */
export function findFaultProblem(spec: string): string | undefined {
  try {
    parse(spec);
    return undefined;
  } catch (error) {
    if (!isKind(error, "usage")) throw error;
    return error.message;
  }
}

/** @throws UsageError naming the flag and what is wrong with the fault */
export function planFaults(specs: string[]): FaultPicker {
  const plans = specs.map((spec) => {
    const problem = findFaultProblem(spec);
    if (problem !== undefined)
      throw usageError(`--fault ${problem}`, advise`See: ${ecm`sandbox start --help`}`);
    return { plan: parse(spec), count: 0 };
  });
  return (method, path) => {
    let fault: Fault | undefined;
    for (const entry of plans) {
      const { plan } = entry;
      if ((plan.method !== "*" && plan.method !== method) || !plan.path.test(path)) continue;
      entry.count += 1;
      // Every plan counts all requests that match it, so that one plan does not shift another.
      const isAffected = plan.affects(entry.count);
      if (isAffected) fault ??= { kind: plan.kind, seconds: plan.seconds };
    }
    return fault;
  };
}

const form = new RegExp(
  `^(${faultKinds.join("|")})(?::(\\*|[A-Z]+)(?::([*/][^:]*))?)?((?::[a-z]+=\\d+(?:\\.\\d+)?)*)$`,
);

/** @throws UsageError that names the fault, and not where it stands */
function parse(spec: string): Plan {
  const [kind] = spec.split(":");
  if (!faultKinds.includes(kind as FaultKind))
    throw invalidFault(spec, `there is no fault ${JSON.stringify(kind)}; faults: ${faultKinds.join(", ")}`);
  const [, , method = "*", path = "*", rest] = form.exec(spec) ?? [];
  if (rest === undefined) throw invalidFault(spec, "it is not KIND:METHOD:PATH:OPTION=NUMBER");
  const options = readOptions(spec, rest.split(":").slice(1));
  return {
    kind: kind as FaultKind,
    seconds: options.get("seconds") ?? 1,
    method,
    path: new RegExp(`^${path.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`),
    affects: createCounter(options),
  };
}

const counts = ["n", "first", "p"];
const isCount = (value: number) => Number.isSafeInteger(value) && value >= 1;

/** Which values an option takes. */
const optionChecks: Record<string, (value: number) => boolean> = {
  n: isCount,
  first: isCount,
  p: (value) => value <= 1,
  seed: Number.isSafeInteger,
  seconds: (value) => value <= 86_400,
};

function readOptions(spec: string, parts: string[]): Map<string, number> {
  const options = new Map(
    parts.map((part) => part.split("=")).map(([name, text]) => [name!, Number(text)] as const),
  );
  const isValid = [...options].every(
    ([name, value]) => Object.hasOwn(optionChecks, name) && optionChecks[name]!(value),
  );
  if (!isValid || options.size < parts.length) {
    throw invalidFault(spec, "its options are n=N, first=N, p=0..1, seed=N and seconds=S, each once");
  }
  if (counts.filter((name) => options.has(name)).length > 1)
    throw invalidFault(spec, "give only one of n, first and p");
  if (options.has("seed") && !options.has("p")) throw invalidFault(spec, "seed needs p");
  return options;
}

/** Decides which of the matching requests, counted from 1, the fault affects. */
function createCounter(options: Map<string, number>): Plan["affects"] {
  const [n, first, p] = counts.map((name) => options.get(name));
  if (n !== undefined) return (count) => count === n;
  if (first !== undefined) return (count) => count <= first;
  if (p !== undefined) {
    const next = randomNumbers(options.get("seed") ?? 1);
    return () => next() < p;
  }
  return () => true;
}

/** Numbers in 0…1 that look random and follow from the seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function invalidFault(spec: string, why: string): EcmError {
  return usageError(`${JSON.stringify(spec)}: ${why}`);
}
