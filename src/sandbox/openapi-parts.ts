/** What both OpenAPI descriptions are made of: schemas that check requests and describe answers. */
import { toJsonSchema as convert } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";

/** Schemas that are described once, under these names: generated clients make a type of each. */
export type Parts = Record<string, GenericSchema>;

export function pathParameters(path: string): object[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

export function queryParameters(query: GenericSchema | undefined, parts: Parts): object[] {
  if (!query) return [];
  const { properties = {}, required = [] } = toJsonSchema(query, parts);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

/** Each part without a reference to itself. */
export function describeParts(parts: Parts): Record<string, object> {
  return Object.fromEntries(
    Object.keys(parts).map((name) => {
      const { [name]: own, ...others } = parts;
      return [name, toJsonSchema(own!, others)];
    }),
  );
}

interface RequestSchema {
  properties?: Record<string, object>;
  required?: string[];
}

/**
 * The schema of a request before defaults are filled in. Checks that JSON Schema cannot express are left out.
 */
export function toJsonSchema(schema: GenericSchema, parts: Parts): RequestSchema {
  const whole = convert(schema as Parameters<typeof convert>[0], {
    target: "draft-2020-12",
    typeMode: "input",
    errorMode: "ignore",
    definitions: parts as Record<string, Parameters<typeof convert>[0]>,
  });
  const { $schema: _schema, $defs: _definitions, ...rest } = whole;
  const text = JSON.stringify(rest).replaceAll('"#/$defs/', '"#/components/schemas/');
  // Generators treat a member with a default as always present, in requests too.
  return JSON.parse(text, (name, value) => (name === "default" ? undefined : value));
}
