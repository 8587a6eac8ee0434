/** Checks a request against its schema, and refuses it with the service's messages. */
import * as v from "valibot";
import { invalid } from "./refusal.ts";

/** The input as the schema types it. @throws Refusal that names the first invalid member */
export function check<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  // To a schema of optional members alone, an array would be an empty object.
  if (Array.isArray(input)) throw invalid("The body must be an object");
  const result = v.safeParse(schema, input, { abortEarly: true });
  if (result.success) return result.output as v.InferOutput<S>;
  const issue = result.issues[0];
  const path = issue.path ?? [];
  const place = path.reduce(
    (name, { key }) =>
      typeof key === "number" ? `${name}[${key}]` : name === "" ? String(key) : `${name}.${key}`,
    "",
  );
  if (path.length === 0) throw invalid(`The body ${issue.message}`);
  if (issue.type === "strict_object" && issue.expected === "never") {
    throw invalid(`${place} is not accepted here`, { field: String(path.at(-1)!.key) });
  }
  const isMissing = issue.received === "undefined";
  throw invalid(`${place} ${isMissing ? "is required" : issue.message}`, { field: String(path[0]!.key) });
}
