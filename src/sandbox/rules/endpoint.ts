/** An endpoint: method and path, scope, schemas of body and query, and the rule that answers. */
import type { GenericSchema, InferInput, InferOutput } from "valibot";
import type { Store } from "../store/index.ts";
import type { Scope } from "../store/keys.ts";
import type { Variants } from "../variants.ts";
import type { Refusal } from "./refusal.ts";

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
