/**
 * An endpoint (method and path, scope, schemas of body and query, the rule that answers), and how a request
 * runs through it: body and query are checked, the rule answers, variants change the answer.
 */
import type { GenericSchema, InferInput, InferOutput } from "valibot";
import * as v from "valibot";
import type { Store } from "../store/index.ts";
import type { Scope } from "../store/keys.ts";
import type { Variants } from "../variants.ts";
import { invalid, joinPlace, Refusal } from "./refusal.ts";

export interface Call<Body, Query> {
  store: Store;
  /** The path's parameters, decoded. */
  parameter(name: string): string;
  body: Body;
  query: Query;
  variants: Variants;
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * An endpoint's rule returns the body of the answer, or throws a Refusal. It writes only when nothing is left
 * to refuse, and only where its scope is to write.
 */
export interface Endpoint {
  /** What generated clients call it. */
  id: string;
  method: "get" | "post" | "put" | "patch" | "delete";
  /** Parameters as `:name`. */
  path: string;
  summary: string;
  scope: Scope;
  body?: GenericSchema;
  /** The schema of the body under variants that change it. */
  bodyBy?: (variants: Variants) => GenericSchema;
  query?: GenericSchema;
  /** 204 has no body. */
  status: 200 | 201 | 204;
  /** The schema of the answer. */
  result?: GenericSchema;
  answer: (call: Call<never, never>) => unknown;
  /** Keeps the members of the answer that the specification shows. Absent: it does not show the endpoint. */
  literal?: (answer: never) => unknown;
  /** Changes the answer as variants want it; undefined: an answer without a body. */
  vary?: (answer: never, variants: Variants) => unknown;
  /** Called when the rule has refused. */
  refused?: (call: Call<never, never>, refusal: Refusal) => void;
}

type Nothing = GenericSchema<undefined>;

/** Types a rule by the schemas of its endpoint. */
export function endpoint<
  Body extends GenericSchema = Nothing,
  Query extends GenericSchema = Nothing,
  Result extends GenericSchema = Nothing,
>(
  given: Omit<Endpoint, "answer" | "status" | "body" | "query" | "result" | "literal" | "vary"> & {
    body?: Body;
    query?: Query;
    status?: Endpoint["status"];
    result?: Result;
    answer: (call: Call<InferOutput<Body>, InferOutput<Query>>) => InferInput<Result>;
    literal?: (answer: InferInput<Result>) => unknown;
    vary?: (answer: InferInput<Result>, variants: Variants) => unknown;
  },
): Endpoint {
  return { status: 200, ...given };
}

/** A request as it came: body and query are read when the endpoint takes them. */
export interface EndpointInput extends Omit<Call<never, never>, "body" | "query"> {
  /** @throws Refusal when the body cannot be read */
  readBody(): unknown;
  readQuery(): Record<string, unknown>;
}

/**
 * @throws Refusal for a body or a query that the endpoint does not take, and
 *   of the endpoint's rule, before it has written
 */
export function runEndpoint(endpoint: Endpoint, input: EndpointInput): { status: number; body: unknown } {
  const { store, variants, now } = input;
  const schema = endpoint.bodyBy?.(variants) ?? endpoint.body;
  const call: Call<never, never> = {
    store,
    variants,
    now,
    parameter: input.parameter,
    body: (schema && check(schema, input.readBody())) as never,
    query: (endpoint.query && check(endpoint.query, input.readQuery())) as never,
  };
  const whole = runRule(endpoint, call);
  const answer = variants.literal === "yes" && endpoint.literal ? endpoint.literal(whole as never) : whole;
  return {
    status: endpoint.status,
    body: endpoint.vary ? endpoint.vary(answer as never, variants) : answer,
  };
}

function runRule(endpoint: Endpoint, call: Call<never, never>): unknown {
  const { database } = call.store;
  const before = database.runs;
  try {
    return endpoint.answer(call);
  } catch (error) {
    if (!(error instanceof Refusal) || !endpoint.scope.endsWith(":write")) throw error;
    // There is nothing to undo then. Otherwise the whole transaction is undone: no request of it is answered
    // by halves.
    if (database.runs > before) throw new Error(`${endpoint.id} has written before it refused`);
    endpoint.refused?.(call, error);
    throw error;
  }
}

/** The input as the schema types it. @throws Refusal that names the first invalid member */
export function check<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  // To a schema of optional members alone, an array would be an empty object.
  if (Array.isArray(input)) throw invalid("The body must be an object");
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (result.success) return result.output as v.InferOutput<S>;
  const issue = result.issues[0];
  const path = issue.path ?? [];
  const place = path.reduce((before, { key }) => joinPlace(before, key), "");
  if (path.length === 0) throw invalid(`The body ${issue.message}`);
  if (issue.type === "strict_object" && issue.expected === "never") {
    throw invalid(`${place} is not accepted here`, { field: String(path.at(-1)!.key) });
  }
  const isMissing = issue.received === "undefined";
  throw invalid(`${place} ${isMissing ? "is required" : issue.message}`, { field: String(path[0]!.key) });
}
