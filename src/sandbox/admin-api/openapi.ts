/** /__sandbox/ described as OpenAPI 3.1, made of the table that its requests are routed by. */
import type { GenericSchema } from "valibot";
import { version } from "../../version.ts";
import { describeParts, pathParameters, queryParameters, toJsonSchema } from "../openapi.ts";
import { findServerUrl } from "../request.ts";
import { errorAnswer } from "../rules/answers.ts";
import { adminRoot } from "./access.ts";
import * as answers from "./answers.ts";
import * as bodies from "./bodies.ts";
import { eventBody } from "./events.ts";
import type { AdminAction, AdminPlace } from "./place.ts";

/** Parts that are described once, under these names: generated clients make a type of each. */
const parts: Record<string, GenericSchema> = {
  Health: answers.healthAnswer,
  Overview: answers.overviewAnswer,
  LoggedRequest: answers.loggedRequest,
  Reset: bodies.resetBody,
  ResetResult: answers.resetAnswer,
  Seed: bodies.seedBody,
  SeedResult: answers.seedAnswer,
  Event: eventBody,
  EventResult: answers.eventAnswer,
  Snapshot: answers.snapshotAnswer,
  ClockChange: bodies.clockBody,
  Clock: answers.clockAnswer,
  Faults: bodies.faultsBody,
  LimitsChange: bodies.limitsBody,
  Limits: answers.limitsAnswer,
  WorldOptions: bodies.worldBody,
  World: answers.worldAnswer,
  Errors: errorAnswer,
};

/** The page is the one answer that is not in the table: it is given to who has no token yet. */
const page = {
  operationId: "getPage",
  summary: "A page to look at",
  responses: { 200: { description: "Done", content: { "text/html": { schema: { type: "string" } } } } },
};

/** @param host as the request named it: that is where its sender reaches the sandbox */
export function describeAdmin(
  actions: readonly AdminAction[],
  { root, adminToken }: AdminPlace,
  host: string | undefined,
): object {
  const paths: Record<string, Record<string, object>> = { "/": { get: page } };
  for (const action of actions) {
    const path = action.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [action.method.toLowerCase()]: describeOperation(action) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "What a test may do to the sandbox of ecm",
      version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: findServerUrl(host, `${root}${adminRoot}`), description: "This sandbox" }],
    security: adminToken === undefined ? [] : [{ adminToken: [] }],
    paths,
    components: {
      securitySchemes: { adminToken: { type: "http", scheme: "bearer" } },
      schemas: describeParts(parts),
    },
  };
}

function describeOperation(action: AdminAction): object {
  const { id, path, query, summary, body } = action;
  return {
    operationId: id,
    summary,
    parameters: [...pathParameters(path), ...queryParameters(query, parts)],
    ...(body && { requestBody: { content: { "application/json": { schema: toJsonSchema(body, parts) } } } }),
    responses: { ...describeAnswer(action), "4XX": refused },
  };
}

const refused = {
  description: "Refused: field names the place, and nothing has changed",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Errors" } } },
};

function describeAnswer({ result, contentType = "application/json" }: AdminAction): object {
  const isJson = contentType === "application/json";
  if (!result && isJson) return { 204: { description: "Done" } };
  const schema = result ? toJsonSchema(result, parts) : { type: "string" };
  return { 200: { description: "Done", content: { [contentType]: { schema } } } };
}
