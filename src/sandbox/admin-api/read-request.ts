/** What a request to /__sandbox/ holds. */
import { limitBody, readMessage } from "../body.ts";
import type { RequestQuery } from "../public-types.ts";
import { invalid } from "../rules/refusal.ts";
import { invalidAt } from "./bodies.ts";
import type { AdminContext } from "./place.ts";

// A seed of many thousand contacts comes as one body.
const maxBodyBytes = 64 * 2 ** 20;

/** The body as JSON, whatever its Content-Type; an empty body counts as an empty object. */
export async function readJson<T = object>(context: AdminContext): Promise<T> {
  const { incoming } = context.env;
  const body = incoming
    ? await readMessage(incoming, maxBodyBytes)
    : limitBody(new Uint8Array(await context.req.arrayBuffer()), maxBodyBytes);
  if ("tooLarge" in body) throw invalid(`The body must not be larger than ${maxBodyBytes / 2 ** 20} MiB`);
  if ("cut" in body) throw invalid("The body ended too early");
  if (body.bytes.length === 0) return {} as T;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body.bytes));
  } catch {
    throw invalid("The body is not JSON");
  }
  if (typeof value !== "object" || value === null) throw invalid("The body must be an object");
  return value as T;
}

export function readFaultSpecs(body: object): string[] {
  const { faults, ...others } = body as { faults?: string[] };
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalidAt(other, "is not known here");
  if (!Array.isArray(faults)) throw invalidAt("faults", "must be an array");
  return faults;
}

export function readQuery(context: AdminContext): RequestQuery {
  const entries = Object.entries(context.req.queries());
  return Object.fromEntries(
    entries.map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}
