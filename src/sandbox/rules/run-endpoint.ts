/**
 * How a request runs through an endpoint: body and query are checked,
 * the rule answers, variants change the answer.
 */
import { check } from "./check.ts";
import type { Call, Endpoint } from "./endpoint.ts";
import { Refusal } from "./refusal.ts";

/** A request as it came: body and query are read when the endpoint takes them. */
export interface EndpointInput extends Omit<Call<never, never>, "body" | "query"> {
  /** @throws Refusal when there is none to be had */
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
    // There is nothing to undo then. Otherwise the whole transaction is
    // undone: no request of it is answered by halves.
    if (database.runs > before) throw new Error(`${endpoint.id} has written before it refused`);
    endpoint.refused?.(call, error);
    throw error;
  }
}
