/** Checks a request against its schema, and refuses it with the service's messages. */
import * as v from "valibot";
import type { Variants } from "../variants.ts";
import { invalid } from "./refusal.ts";

/** The input as the schema types it. @throws Refusal that names the first invalid member */
export function check<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  unknownMembers: Variants["unknown-members"] = "refuse",
): v.InferOutput<S> {
  // To a schema of optional members alone, an array would be an empty object.
  if (Array.isArray(input)) throw invalid("The body must be an object");
  const result = v.safeParse(unknownMembers === "refuse" ? schema : lenient(schema), input, {
    abortEarly: true,
  });
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

const lenientSchemas = new WeakMap<object, v.GenericSchema>();

/** The same schema, but it ignores members that it does not name. */
function lenient(schema: v.GenericSchema): v.GenericSchema {
  const known = lenientSchemas.get(schema);
  if (known) return known;
  const made = withoutStrictness(schema as SchemaNode) as v.GenericSchema;
  lenientSchemas.set(schema, made);
  return made;
}

type PipeAction = v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>;

/** The parts of a schema that are schemas themselves. */
interface SchemaNode {
  kind: string;
  type: string;
  message?: string;
  pipe?: SchemaNode[];
  entries?: Record<string, SchemaNode>;
  item?: SchemaNode;
  wrapped?: SchemaNode;
  options?: (SchemaNode | string)[];
}

function withoutStrictness(node: SchemaNode): unknown {
  if (node.kind !== "schema") return node;
  if (node.pipe) {
    const [schema, ...actions] = node.pipe.map(withoutStrictness) as [v.GenericSchema, ...PipeAction[]];
    return v.pipe(schema, ...actions);
  }
  const copy = { ...node };
  if (node.entries) {
    copy.entries = Object.fromEntries(
      Object.entries(node.entries).map(([name, entry]) => [name, withoutStrictness(entry) as SchemaNode]),
    );
  }
  if (node.item) copy.item = withoutStrictness(node.item) as SchemaNode;
  if (node.wrapped) copy.wrapped = withoutStrictness(node.wrapped) as SchemaNode;
  if (node.options) {
    copy.options = node.options.map((option) =>
      typeof option === "string" ? option : (withoutStrictness(option) as SchemaNode),
    );
  }
  return node.type === "strict_object" ? v.object(copy.entries as never, node.message as never) : copy;
}
