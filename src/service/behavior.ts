/**
 * What the documents of the service leave open, and what answers have shown of it, for one structure. What
 * was learned is kept, so that it costs the next command nothing. Pure.
 */
import { formatCount } from "../counts.ts";
import { isObject } from "../json.ts";

interface OpenPoint {
  point: string;
  /** The forms that may be learned, each in a few words; or a number, for which N stands in words. */
  forms?: Record<string, string> | string;
  /** What the documents say of it. */
  documented: string;
  /** What the client does with a service of which nothing is known. */
  does: string;
  /** What it does when that fails, or an answer shows more. */
  next: string;
}

const limit = "N; more is refused";
const cut = "N; more is cut silently";

/** Read by the client, by `ecm doctor`, and by the page `docs/live-service.md`, whose table is made of it. */
export const openPoints = {
  keys: {
    point: "several keys in one search",
    forms: {
      any: "any of them is found",
      alternatives: "not as values of one condition",
      one: "not accepted",
    },
    documented: "several `values` of a condition, not how they are combined",
    does: "asks for them as values of one condition, and for the key of a contact besides that must be found",
    next: "where that one is missing, or the search is refused: asks with one filter for each key, then for each key alone. Where no contact is known yet, ten creates in a row that are refused as duplicates make a run look each contact up alone before it creates it, until a create succeeds",
  },
  maxKeys: {
    point: "keys in one search, at most",
    forms: limit,
    documented: "nothing",
    does: "asks for up to 100 contacts in one search",
    next: "halves a number that is refused, and asks for no more than what worked",
  },
  keyCase: {
    point: "letter case of keys",
    documented: "nothing",
    does: "takes an address as the same in any case, and looks it up as written and in lower case: contacts of a run in one search, a single one in one after the other",
    next: "writes a key back as the service gave it",
  },
  maxPage: {
    point: "contacts on a page, at most",
    forms: limit,
    documented: "nothing",
    does: "asks for 1,000",
    next: "where that is refused: 500, 250, 100, 50, 10",
  },
  pageCut: {
    point: "contacts on a page that is cut",
    forms: cut,
    documented: "nothing",
    does: "reads until the total is reached, never until a page is short",
    next: "reads on with pages of the size that came",
  },
  maxListSize: {
    point: "lists on a page, at most",
    forms: limit,
    documented: "nothing",
    does: "asks for 100",
    next: "where that is refused: 50, 10",
  },
  listSizeCut: {
    point: "lists on a page that is cut",
    forms: cut,
    documented: "nothing",
    does: "reads until the total is reached, or until a page has nothing new",
    next: "reads on with pages of the size that came",
  },
  lists: {
    point: "the list of lists",
    documented: "`{ total, records }`",
    does: "takes either",
    next: "where no total is told, reads until a page has nothing new",
  },
  structures: {
    point: "the list of structures",
    documented: "tags and `required` in the published reference, not in the specification",
    does: "reads the structure alone before an update, where tags, `__v` or `required` are missing",
    next: "where no answer shows the tags, refuses to change the structure: an update would have to send all of them. Takes tags by their ids, refuses labels in flags, files and `--where` (exit 5), and shows ids. `sandbox clone` says that it leaves tags out",
  },
  source: {
    point: "names that a search can ask for",
    forms: {
      published: "the nine of the published reference",
      specified: "the members of a contact in the specification",
      common: "those that are in both; neither the status nor updatedAt",
    },
    documented: "nine names in the published reference, others in the specification",
    does: "asks with the nine",
    next: "a refusal that names `source` is tried with the members of a contact in the specification (`status` in place of its two parts), then with the names that both have. Where no search tells the status, contacts are read by their ids where their status decides: for `unsubscribe`, `delete`, `--where`, `--columns status`, an export and a clone; the price counts these requests. Elsewhere a warning says that the status is missing. What needs `updatedAt` (`export --since`, `--where`) ends with exit 1 where no search tells it",
  },
  status: {
    point: "a contact's status in a search",
    forms: { untold: "left out" },
    documented: "as two parts, or as an object",
    does: "reads either",
    next: "shows it as `status`. Where it was asked for and is left out in silence, contacts are read by their ids as above",
  },
  statusCase: {
    point: "letter case of a status to search for",
    forms: { lower: "active", capital: "Active" },
    documented: "both",
    does: "asks in lower case",
    next: "once more with a capital after a refusal",
  },
  listColumn: {
    point: "a search for the members of a list",
    forms: { refused: "LIST_ID is refused" },
    documented: "`LIST_ID` in the published reference, not in the specification",
    does: "asks by `LIST_ID`. That several lists are searched is proven with the members of each",
    next: "where it is refused, reads all contacts that the other conditions find, and their `lists` decide; the requests for these pages are part of the price. Where no form of a search finds the members of several lists, a command with several ends with exit 1 before a write: name one at a time",
  },
  searchLag: {
    point: "a new contact in a search",
    forms: "within N ms",
    documented: "nothing",
    does: "takes a create that is refused as a duplicate as a sign that the contact exists, and looks it up",
    next: "where no search shows it, a run looks it up again at its end, three times within 14 seconds, and decides on what it finds. A contact that no search shows then is `skipped`, code `exists_hidden`. An erasure also searches among the inactive contacts",
  },
  mutateElements: {
    point: "tags and lists in a change",
    forms: { object: "{ _id }", id: "bare ids" },
    documented: "not shown",
    does: "sends `{ _id }`",
    next: "a refusal that names them is tried once with plain ids",
  },
  mutateAnswer: {
    point: "the answer to a change",
    forms: { contact: "the contact", empty: "empty", other: "something else" },
    documented: "not shown",
    does: "relies on nothing in it: what was sent is known",
    next: "a single contact is shown as the answer has it; where that does not hold what was sent, it is read",
  },
  noop: {
    point: "a refusal of a change",
    documented: "that a change without effect is refused, not with which `errorType`",
    does: "reads the contact and compares",
    next: "counts it as unchanged only where nothing would change",
  },
  feed: {
    point: "the feed of events",
    documented: "not its order: a total may be missing, a page cut, and events come in between two pages",
    does: "goes by the total, or until a page is empty",
    next: "where pages hold less than the total, reads all again, at most three times, and warns then; with `--since last`, what is missing comes the next time",
  },
  moving: {
    point: "contacts that come and go during an export",
    documented: "nothing",
    does: "reads pages that overlap by a few contacts: what is seen again shows that nobody slid past between two pages",
    next: "otherwise reads all again, at most three times, and fails then",
  },
  records: {
    point: "campaigns, templates, domains, reports",
    documented: "no member of them; lists come as an array or as `{ total, records }`",
    does: "shows what comes, leaves empty what does not, and keeps all of it in JSON",
    next: "a rate is shown as the service gives it, without a unit",
  },
} as const satisfies Record<string, OpenPoint>;

type Points = typeof openPoints;

/**
 * What can be known of each point that is learned. Numbers are the greatest that was accepted, or
 * milliseconds.
 */
export type BehaviorPoints = {
  [P in keyof Points as Points[P] extends { forms: unknown } ? P : never]: Points[P] extends {
    forms: infer Forms;
  }
    ? Forms extends string
      ? number
      : keyof Forms
    : never;
};

type BehaviorPoint = keyof BehaviorPoints;

interface KnownPoint<P extends BehaviorPoint = BehaviorPoint> {
  value: BehaviorPoints[P];
  /** RFC 3339, UTC. */
  learnedAt: string;
}

export type KnownBehavior = { [P in BehaviorPoint]?: KnownPoint<P> };

export interface Behavior {
  get<P extends BehaviorPoint>(point: P): BehaviorPoints[P] | undefined;
  /** Stores what an answer has shown, if it is new. */
  learn<P extends BehaviorPoint>(point: P, value: BehaviorPoints[P]): void;
  readonly known: Readonly<KnownBehavior>;
}

/** The behavior of each structure of an account, by the structure's id. */
export type Behaviors = (structureId: string) => Behavior;

/** @param onChange called with each change, to store it */
export function createBehavior(
  known: KnownBehavior = {},
  now: () => number = Date.now,
  onChange: (point: BehaviorPoint, known: KnownPoint) => void = () => undefined,
): Behavior {
  const points = { ...known } as Record<string, KnownPoint | undefined>;
  return {
    get: (point) => points[point]?.value as never,
    learn(point, value) {
      if (points[point]?.value === value) return;
      const learned = { value, learnedAt: new Date(now()).toISOString() };
      points[point] = learned;
      onChange(point, learned);
    },
    get known() {
      return points as KnownBehavior;
    },
  };
}

const dayMilliseconds = 24 * 3_600_000;
/** A service may change: what is older than this is found out anew. */
const maxAgeMilliseconds = 30 * dayMilliseconds;

/** The points of a kept record that are not too old; the others are learned again. */
export function readFreshBehavior(stored: unknown, now: number): KnownBehavior {
  const known = Object.entries(isObject(stored) ? stored : {}) as [string, KnownPoint][];
  return Object.fromEntries(known.filter(([, { learnedAt }]) => isBelieved(now - Date.parse(learnedAt))));
}

/** A record from the future was made by a clock that was ahead; its age is unknown. */
function isBelieved(ageMilliseconds: number): boolean {
  return ageMilliseconds <= maxAgeMilliseconds && ageMilliseconds >= -dayMilliseconds;
}

/** The points that are known, in a few words each, for a person to read and to send to support. */
export function describeBehavior(known: KnownBehavior): string[] {
  return Object.entries(openPoints as Record<string, OpenPoint>).flatMap(([name, { point, forms }]) => {
    const value = known[name as BehaviorPoint]?.value;
    if (value === undefined || forms === undefined) return [];
    const words = typeof forms === "string" ? forms.replace("N", formatCount(Number(value))) : forms[value];
    return `${point}: ${words}`;
  });
}

/** RFC 3339: when the newest of it was learned. */
export function findLastLearned(behavior: KnownBehavior): string | undefined {
  return Object.values(behavior)
    .map((point) => point.learnedAt)
    .sort()
    .at(-1);
}
