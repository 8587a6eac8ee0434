/** The service described as OpenAPI 3.1, made of the endpoints and of the schemas that check their requests. */
import { toJsonSchema } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { version } from "../version.ts";
import { errorAnswer } from "./rules/answers.ts";
import type { Endpoint } from "./rules/endpoint.ts";

const errors: [status: number, description: string][] = [
  [400, "ValidationError, DuplicateFieldError or ConcurrencyError"],
  [401, "UnauthorizedError: the key is missing, invalid, inactive, deleted or expired"],
  [403, "ForbiddenError: the scope is missing, or the account has no API access"],
  [404, "RecordNotFound"],
  [429, "TooManyRequestsError: the hour, the month, or the address"],
];

export function describeService(endpoints: Endpoint[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Email marketing contacts, as the sandbox of ecm answers", version },
    security: [{ apiKey: [] }],
    paths,
    components: {
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } },
      schemas: { Errors: jsonSchema(errorAnswer) },
    },
  };
}

function operationOf(endpoint: Endpoint): object {
  const answer = endpoint.result && {
    content: { "application/json": { schema: jsonSchema(endpoint.result) } },
  };
  return {
    operationId: operationId(endpoint),
    summary: endpoint.summary,
    description: `Scope: ${endpoint.scope}`,
    parameters: [...pathParameters(endpoint.path), ...queryParameters(endpoint.query)],
    ...(endpoint.body && {
      requestBody: { required: true, content: { "application/json": { schema: jsonSchema(endpoint.body) } } },
    }),
    responses: {
      [endpoint.status]: { description: "Done", ...answer },
      ...Object.fromEntries(
        errors.map(([status, description]) => [
          status,
          {
            description,
            content: { "application/json": { schema: { $ref: "#/components/schemas/Errors" } } },
          },
        ]),
      ),
    },
  };
}

/** `put /api/contact/:contactId/mutate` → `putContactContactIdMutate`. */
function operationId({ method, path }: Endpoint): string {
  const words = path.replace("/api/", "").split(/[/:-]+/);
  return method + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function pathParameters(path: string): object[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: GenericSchema | undefined): object[] {
  if (!query) return [];
  const { properties = {} } = jsonSchema(query);
  return Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: false, schema }));
}

/** What a request may hold, before defaults are filled in. Checks that JSON Schema has no words for are left out. */
function jsonSchema(schema: GenericSchema) {
  const { $schema: _, ...rest } = toJsonSchema(schema as Parameters<typeof toJsonSchema>[0], {
    target: "draft-2020-12",
    typeMode: "input",
    errorMode: "ignore",
  });
  return rest;
}
