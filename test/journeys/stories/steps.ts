/** What may happen in a story, as plain data. */
import fc from "fast-check";
import type { Change, Command, Import, Row, Selection } from "./oracle.ts";

const names = ["ann", "bob", "cy", "dee", "eve"];
const who = fc.constantFrom(...names.map((name) => `${name}@x.org`));
const list = fc.constantFrom("News", "Offers");
const tag = fc.constantFrom("vip", "trial");
const value = fc.constantFrom("", "Oslo", "Rome", "rome", " Oslo ", "=1+1", 'a "b", c');
const filled = value.filter((text) => text !== "");
const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength = 2) => fc.uniqueArray(arbitrary, { maxLength });

const spelled = fc
  .tuple(who, fc.constantFrom("plain", "upper", "domain", "blanks", "mailto", "named"))
  .map(([key, how]) => {
    if (how === "upper") return key.toUpperCase();
    if (how === "domain") return key.replace("x.org", "X.ORG");
    if (how === "blanks") return ` ${key} `;
    if (how === "mailto") return `mailto:${key}`;
    return how === "named" ? `Ann <${key}>` : key;
  });
const unusable = fc.constantFrom("", "nobody", "ann@x.org, bob@x.org", "cy@x .org");
const keyCell = fc.oneof({ weight: 6, arbitrary: who }, { weight: 3, arbitrary: spelled }, unusable);

const rarely = fc.boolean().chain((one) => (one ? fc.boolean() : fc.constant(false)));

const row: fc.Arbitrary<Row> = fc.record({
  key: keyCell,
  first: value,
  city: value,
  list: fc.oneof(fc.constant(""), list),
  tag: fc.oneof(fc.constant(""), tag),
  mark: fc.constantFrom("", "no", "yes"),
});

const columns = ["First Name", "City", "Lists", "Tags", "Unsubscribed", "Subscribed"] as const;
const column = fc.constantFrom(...columns);
const importing: fc.Arbitrary<Import> = fc.record({
  kind: fc.constant("import" as const),
  rows: fc.array(row, { minLength: 1, maxLength: 7 }),
  columns: some(column, 4),
  lists: some(list),
  tags: some(tag),
  mode: fc.constantFrom("upsert", "upsert", "create", "update"),
  blank: fc.constantFrom("keep", "clear"),
  duplicates: fc.constantFrom("merge", "last", "first", "reject"),
  marked: fc.constantFrom("leave", "leave", "include"),
  includeSuppressed: rarely,
  set: fc.option(filled, { nil: undefined }),
});

const status = fc.constantFrom("active" as const, "inactive" as const);
const selection: fc.Arbitrary<Selection> = fc.oneof(
  fc.record(
    {
      keys: fc.uniqueArray(who, { minLength: 1, maxLength: 4 }),
      marked: fc.uniqueArray(who, { minLength: 1, maxLength: 2 }),
      list,
      status,
    },
    { requiredKeys: ["keys"] },
  ),
  fc.record({ keys: fc.constant<string[]>([]), list, tag, status }, { requiredKeys: ["keys"] }),
);

const oneOrTwo = { minKeys: 1, maxKeys: 2, noNullPrototype: true };
const changing: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant("mutate" as const),
    whom: selection,
    set: fc.dictionary(fc.constantFrom("First Name", "City"), value, oneOrTwo),
    addTags: some(tag, 1),
    removeTags: fc.constant<string[]>([]),
    addLists: some(fc.constant("News"), 1),
    removeLists: some(fc.constant("Offers"), 1),
  }),
  fc.record({
    kind: fc.constantFrom("unsubscribe" as const, "delete" as const),
    whom: selection,
    takesMarked: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("sync" as const),
    list,
    keys: fc.array(who, { minLength: 1, maxLength: 5 }),
    marked: fc.option(some(who), { nil: undefined }),
    creates: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("merge" as const),
    lists: fc.uniqueArray(list, { minLength: 1, maxLength: 2 }),
    into: fc.constantFrom("All", "Both", "Third"),
  }),
);

/** What somebody else does through the API. */
const act = fc.record({
  how: fc.constantFrom("unsubscribe", "bounce", "delete", "edit", "join", "leave", "add"),
  who,
});
export type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never;

const losses = ["drop-before", "drop-after", "500-after", "503", "429", "cut-answer"] as const;
const disturbance = fc.record({
  how: fc.constantFrom(...losses, "signal", "budget"),
  at: fc.integer({ min: 1, max: 8 }),
});

/** A bulk command, and what is done around it. */
const bulk = fc.record({
  step: fc.constant("bulk" as const),
  command: fc.oneof({ weight: 3, arbitrary: importing as fc.Arbitrary<Command> }, changing),
  /** A dry run comes first. */
  dry: fc.boolean(),
  /** The plan of that dry run is applied in place of the command. */
  applies: rarely,
  disturbance: fc.option(disturbance, { nil: undefined }),
  again: rarely,
  undo: fc.constantFrom("no", "no", "at once", "delete-created"),
  /** What others do, and when. */
  act,
  /** What was stopped is resumed by its run, rather than by the same command. */
  resumes: fc.boolean(),
  acts: fc.constantFrom("no", "no", "meanwhile", "after a stop", "before the undo", "after the dry run"),
});
const others = fc.record({ step: fc.constant("others" as const), act });
const suppressing = fc.record({ step: fc.constantFrom("suppress" as const, "unsuppress" as const), who });
const exporting = fc.record({ step: fc.constant("export" as const) });
const erasing = fc.record({ step: fc.constant("erase" as const), who });
/** The last run is undone, whatever has happened since. */
const undoing = fc.record({ step: fc.constant("undo" as const), deletes: fc.boolean() });
const step = fc.oneof(
  { weight: 6, arbitrary: bulk },
  { weight: 3, arbitrary: others },
  suppressing,
  exporting,
  erasing,
  { weight: 2, arbitrary: undoing },
);
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
export type Bulk = Step & { step: "bulk" };

const capital = who.map((key) => key.replace(/^./, (first) => first.toUpperCase()));
const person = fc.record({
  key: fc.oneof(who, capital),
  fields: fc.record({ "First Name": value, City: value }),
  lists: some(list),
  tags: some(tag),
  status: fc.constantFrom("Active", "Active", "Unsubscribe", "Bounce", "Complaint-FBL"),
});

const variants = fc.constantFrom<Record<string, string>>(
  {},
  {},
  { "search-lag": "30000" },
  { keys: "refused" },
  { keys: "first" },
  { "max-keys": "1" },
  { page: "cap:3" },
  { page: "refuse:3" },
  { lists: "array" },
  { "mutate-elements": "id", "mutate-answer": "empty" },
  { "mutate-elements": "object", "mutate-answer": "other" },
  { noop: "NoChangesError" },
  { "hourly-headers": "missing" },
  { source: "specified" },
);

export const story = fc.record({
  variants,
  people: fc.uniqueArray(person, { maxLength: 4, selector: ({ key }) => key.toLowerCase() }),
  /** Further contacts: in a small account everybody is read, in a large one each is looked up. */
  crowd: fc.constantFrom(0, 0, 40),
  suppressed: some(who, 1),
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
});
export type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;
