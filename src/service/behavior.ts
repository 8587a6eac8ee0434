/**
 * How the service behaves for one structure where its documents leave it open, as far as answers have shown.
 * Whoever learns something keeps it, so that it costs the next command nothing. Pure.
 */
import { isObject } from "../is-object.ts";

/** Each point, and what can be known of it. Numbers are the greatest that was accepted, or milliseconds. */
export interface BehaviorPoints {
  /**
   * How several keys are asked for in one search: as values of one
   * criteria, as a filter for each, or not at all.
   */
  keys: "any" | "alternatives" | "one";
  /** Most keys in one search. */
  maxKeys: number;
  /** Largest `pageSize` that was not refused, when a larger one was. */
  maxPage: number;
  /** What a larger `pageSize` is silently cut to. */
  pageCut: number;
  /** The same of a list of lists' `size`. */
  maxListSize: number;
  listSizeCut: number;
  lists: "records" | "array";
  /** What `addLists` and the like hold: `{ _id }`, or bare ids. */
  mutateElements: "object" | "id";
  mutateAnswer: "contact" | "empty" | "other";
  /** How long a search took to show a new contact. */
  searchLag: number;
  /** A status in a search: two members, or one object. */
  status: "parts" | "object";
  /** Letter case of `CONTACT_STATUS` values. */
  statusCase: "lower" | "capital";
  /**
   * The names that a search's `source` takes: of the published
   * reference, of the specification, or of both alone.
   */
  source: "published" | "specified" | "common";
  /** Whether a search filters by `LIST_ID`. */
  listColumn: "taken" | "refused";
}

export type BehaviorPoint = keyof BehaviorPoints;

export interface KnownPoint<P extends BehaviorPoint = BehaviorPoint> {
  value: BehaviorPoints[P];
  /** RFC 3339, UTC. */
  learnedAt: string;
}

export type KnownBehavior = { [P in BehaviorPoint]?: KnownPoint<P> };

export interface Behavior {
  get<P extends BehaviorPoint>(point: P): BehaviorPoints[P] | undefined;
  /** Keeps it, if it is news. */
  learn<P extends BehaviorPoint>(point: P, value: BehaviorPoints[P]): void;
  /** An answer has shown that it does not hold any more. */
  forget(point: BehaviorPoint): void;
  readonly known: Readonly<KnownBehavior>;
}

/** The behavior of each structure of an account, by the structure's id. */
export type Behaviors = (structureId: string) => Behavior;

/** @param onChange told of each change; keeps it */
export function createBehavior(
  known: KnownBehavior = {},
  now: () => number = Date.now,
  onChange: (point: BehaviorPoint, known: KnownPoint | undefined) => void = () => undefined,
): Behavior {
  const points = { ...known } as Record<string, KnownPoint | undefined>;
  return {
    get: (point) => points[point]?.value as never,
    learn(point, value) {
      if (points[point]?.value === value) return;
      points[point] = { value, learnedAt: new Date(now()).toISOString() };
      onChange(point, points[point]);
    },
    forget(point) {
      if (points[point] === undefined) return;
      delete points[point];
      onChange(point, undefined);
    },
    get known() {
      return points as KnownBehavior;
    },
  };
}

const textValues: Partial<Record<BehaviorPoint, readonly string[]>> = {
  keys: ["any", "alternatives", "one"],
  lists: ["records", "array"],
  mutateElements: ["object", "id"],
  mutateAnswer: ["contact", "empty", "other"],
  status: ["parts", "object"],
  statusCase: ["lower", "capital"],
  source: ["published", "specified", "common"],
  listColumn: ["taken", "refused"],
};
const numberPoints: readonly string[] = [
  "maxKeys",
  "maxPage",
  "pageCut",
  "maxListSize",
  "listSizeCut",
  "searchLag",
];

const dayMilliseconds = 24 * 3_600_000;
/** A service may change: what is older than this is found out anew. */
const maxAgeMilliseconds = 30 * dayMilliseconds;

/**
 * The points of a kept record that are sound and not too old; everything else is left out and learned again.
 */
export function readSoundBehavior(stored: unknown, now: number): KnownBehavior {
  const sound: Record<string, KnownPoint> = {};
  for (const [point, known] of Object.entries(isObject(stored) ? stored : {})) {
    if (!isObject(known) || typeof known.learnedAt !== "string") continue;
    const { value, learnedAt } = known;
    if (isBelieved(now - Date.parse(learnedAt)) && isSoundValue(point, value))
      sound[point] = { value: value as never, learnedAt };
  }
  return sound as KnownBehavior;
}

/** Of a future age, it was learned by a clock that was ahead: nobody knows when. */
function isBelieved(ageMilliseconds: number): boolean {
  return ageMilliseconds <= maxAgeMilliseconds && ageMilliseconds >= -dayMilliseconds;
}

function isSoundValue(point: string, value: unknown): boolean {
  const known = textValues[point as BehaviorPoint];
  if (known) return known.includes(value as string);
  const least = point === "searchLag" ? 0 : 1;
  return numberPoints.includes(point) && Number.isSafeInteger(value) && (value as number) >= least;
}
