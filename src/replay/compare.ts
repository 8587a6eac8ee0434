/** Compares the answer that was recorded with the one of the sandbox. Pure. */
import type { RecordedExchange } from "../recording/exchange.ts";
import { limitHeaders } from "../recording/vocabulary.ts";

type Rule =
  | "status"
  | "error"
  | "no-op"
  | "body"
  | "members"
  | "types"
  | "records"
  | "order"
  | "values"
  | "limits";

export interface Difference {
  rule: Rule;
  /** Such as `contacts[].status`; empty: the whole answer. */
  place: string;
  recorded: string;
  sandbox: string;
}

export interface CompareOptions {
  /** A change of a contact: it may be refused because it changes nothing. */
  isChange?: boolean;
  /** False: the order is by something that the recording does not hold. */
  hasOrder?: boolean;
  /** False: it depends on more of the account than the recording shows. */
  hasTotals?: boolean;
  /** The sandbox has no such endpoint. */
  isUnknown?: boolean;
  /** False: what is in arrays depends on what the recording does not show. */
  hasRecords?: boolean;
}

type Answer = Pick<RecordedExchange, "status" | "headers" | "answer" | "notJson">;
type Members = Record<string, unknown>;

const totalMembers = ["total", "totalRecords", "totalContacts", "totalCampaigns"];
const nothing = "none";

export function compareAnswers(recorded: Answer, seen: Answer, options: CompareOptions): Difference[] {
  return [...compareOutcomes(recorded, seen, options), ...compareLimitHeaders(recorded, seen)];
}

function compareOutcomes(recorded: Answer, seen: Answer, options: CompareOptions): Difference[] {
  const [was, is] = [findError(recorded), findError(seen)];
  if (recorded.status !== seen.status) {
    const isNoop = options.isChange && [was, is].some((error) => error && error.field === undefined);
    const rule = isNoop && (recorded.status === 400 || seen.status === 400) ? "no-op" : "status";
    const place = options.isUnknown ? "the sandbox has no such endpoint" : "";
    return [{ rule, place, recorded: formatOutcome(recorded, was), sandbox: formatOutcome(seen, is) }];
  }
  if (was && is) return compareErrors(was, is, options);
  if (recorded.notJson?.includes("answer")) return [];
  if (recorded.answer === undefined || seen.answer === undefined) {
    const [type, otherType] = [nameType(recorded.answer), nameType(seen.answer)];
    return type === otherType ? [] : [{ rule: "body", place: "", recorded: type, sandbox: otherType }];
  }
  return compareValues(recorded.answer, seen.answer, "", options);
}

interface AnswerError {
  errorType?: unknown;
  field?: unknown;
}

function findError({ status, answer }: Answer): AnswerError | undefined {
  if (status === null || status < 400) return undefined;
  const { errors } = (answer ?? {}) as { errors?: unknown };
  return (Array.isArray(errors) ? (errors[0] as AnswerError) : undefined) ?? {};
}

function formatOutcome({ status }: Answer, error: AnswerError | undefined): string {
  const { errorType, field } = error ?? {};
  return [status, errorType, field !== undefined && `(${field})`].filter(Boolean).join(" ");
}

function compareErrors(was: AnswerError, is: AnswerError, { isChange }: CompareOptions): Difference[] {
  const isNoop = isChange && was.field === undefined && is.field === undefined;
  return (["errorType", "field"] as const)
    .filter((name) => was[name] !== is[name] && !(isPseudonym(was[name]) && isPseudonym(is[name])))
    .map((name) => ({
      rule: isNoop ? "no-op" : "error",
      place: `errors[].${name}`,
      recorded: String(was[name] ?? nothing),
      sandbox: String(is[name] ?? nothing),
    }));
}

/** Of a name that is not the service's own. */
function isPseudonym(name: unknown): boolean {
  return typeof name === "string" && /^(?:text|member)-[0-9a-f]{8}/i.test(name);
}

function compareLimitHeaders({ headers: was }: Answer, { headers: is }: Answer): Difference[] {
  if (!was || !is) return [];
  return [...limitHeaders, "x-ratelimit-reset"]
    .filter((name) => name !== "retry-after" && name in was !== name in is)
    .map((name) => ({
      rule: "limits",
      place: name,
      recorded: name in was ? "sent" : "not sent",
      sandbox: name in is ? "sent" : "not sent",
    }));
}

function compareValues(was: unknown, is: unknown, place: string, options: CompareOptions): Difference[] {
  const [type, otherType] = [nameType(was), nameType(is)];
  if (type !== otherType) return [{ rule: "types", place, recorded: type, sandbox: otherType }];
  if (Array.isArray(was)) return compareArrays(was, is as unknown[], place, options);
  if (type === "object") return compareObjects(was as Members, is as Members, place, options);
  const member = place.slice(place.lastIndexOf(".") + 1);
  const isUnknown = totalMembers.includes(member) && options.hasTotals === false;
  if (was === is || isUnknown || ["totalContacts", "totalCampaigns"].includes(member)) return [];
  return [{ rule: "values", place, recorded: String(was), sandbox: String(is) }];
}

function compareObjects(was: Members, is: Members, place: string, options: CompareOptions): Difference[] {
  const at = (name: string) => (place === "" ? name : `${place}.${name}`);
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].flatMap((name) => {
    if (name in was && name in is) return compareValues(was[name], is[name], at(name), options);
    const [recorded, sandbox] = [name in was, name in is].map((has) => (has ? "there" : "missing"));
    return [{ rule: "members", place: at(name), recorded: recorded!, sandbox: sandbox! } as const];
  });
}

function compareArrays(was: unknown[], is: unknown[], place: string, options: CompareOptions): Difference[] {
  if (options.hasRecords === false) return [];
  const inside = `${place}[]`;
  const ids = was.map(findId);
  const others = new Map(is.map((each) => [findId(each), each]));
  const hasIds = [...ids, ...others.keys()].every((id) => id !== undefined);
  if (!hasIds) {
    const [first, other] = [was[0], is[0]];
    const hasBoth = typeof first === "object" && typeof other === "object";
    return hasBoth ? compareValues(first, other, inside, options) : [];
  }
  const paired = was.filter((each) => others.has(findId(each)));
  const differences = paired.flatMap((each) =>
    compareValues(each, others.get(findId(each)), inside, options),
  );
  return [...compareRecords(ids, [...others.keys()], place, options), ...differences];
}

function compareRecords(
  was: (string | undefined)[],
  is: (string | undefined)[],
  place: string,
  { hasOrder = true }: CompareOptions,
): Difference[] {
  const [missing, further] = [was.filter((id) => !is.includes(id)), is.filter((id) => !was.includes(id))];
  if (missing.length > 0 || further.length > 0) {
    return [
      { rule: "records", place, recorded: String(was.length), sandbox: formatFound(is, missing, further) },
    ];
  }
  const at = was.findIndex((id, index) => id !== is[index]);
  if (at === -1 || !hasOrder) return [];
  const position = is.indexOf(was[at]) + 1;
  return [{ rule: "order", place, recorded: `one as number ${at + 1}`, sandbox: `as number ${position}` }];
}

function formatFound(is: unknown[], missing: unknown[], further: unknown[]): string {
  return `${is.length} (${missing.length} missing, ${further.length} more)`;
}

function findId(value: unknown): string | undefined {
  const { _id } = (value ?? {}) as { _id?: unknown };
  return typeof _id === "string" ? _id : undefined;
}

function nameType(value: unknown): string {
  if (value === undefined) return nothing;
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
