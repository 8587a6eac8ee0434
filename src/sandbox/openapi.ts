/**
 * The service described as OpenAPI 3.1, made of the endpoints and of the schemas that check their requests.
 */

import { toJsonSchema as convert } from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { version } from "../version.ts";
import { findServerUrl, type ReceivedRequest } from "./request.ts";
import * as answers from "./rules/answers.ts";
import type { Endpoint } from "./rules/endpoint.ts";
import * as requests from "./rules/requests.ts";

/** Parts that are described once, under these names: generated clients make a type of each. */
const parts: Record<string, GenericSchema> = {
  Contact: answers.contactAnswer,
  FoundContact: answers.foundContact,
  ContactStatus: answers.statusAnswer,
  FieldValue: requests.fieldValue,
  Reference: requests.idRef,
  SearchResult: answers.searchAnswer,
  ContactStructure: answers.structureAnswer,
  Field: answers.fieldAnswer,
  Tag: answers.tagAnswer,
  List: answers.listAnswer,
  NewList: answers.newListAnswer,
  ListName: answers.listNameAnswer,
  ListPage: answers.listPageAnswer,
  Event: answers.eventAnswer,
  EventPage: answers.eventPageAnswer,
  Campaign: answers.campaignAnswer,
  CampaignPage: answers.campaignPageAnswer,
  Template: answers.templateAnswer,
  TemplatePage: answers.templatePageAnswer,
  Domain: answers.domainAnswer,
  Dashboard: answers.dashboardAnswer,
  OverallReport: answers.overallAnswer,
  Histogram: answers.histogramAnswer,
  CampaignReport: answers.campaignReportAnswer,
  Engagement: answers.engagementAnswer,
  Errors: answers.errorAnswer,
  CreateContact: requests.createContact,
  ReplaceContact: requests.replaceContact,
  MutateContact: requests.mutateContact,
  SetContactStatus: requests.patchContact,
  SearchContacts: requests.searchContacts,
  SearchFilter: requests.filter,
  SearchCriteria: requests.criteria,
  UpdateStructure: requests.updateStructure,
  FieldDefinition: requests.fieldDefinition,
  TagDefinition: requests.tagDefinition,
  CreateList: requests.createList,
  RenameList: requests.renameList,
  DuplicateList: requests.duplicateList,
  MergeLists: requests.mergeLists,
  DeleteLists: requests.deleteLists,
};

const tags: [name: string, description: string, path: RegExp][] = [
  ["contact-structure", "Fields and tags", /^\/api\/contact-structure(\/:\w+)?$/],
  ["lists", "Lists of a contact structure", /^\/api\/contact-structure\//],
  ["contact", "Contacts, searches and events", /^\/api\/contact/],
  ["email-campaign", "Campaigns", /^\/api\/email\/campaign/],
  ["email-template", "Templates", /^\/api\/email\/template/],
  ["email-domain", "Sending domains", /^\/api\/email\/domain/],
  ["reports", "What became of mails", /^\/api\/reports\//],
];

const errors: [status: number, description: string][] = [
  [400, "ValidationError, DuplicateFieldError or ConcurrencyError"],
  [401, "UnauthorizedError: the key is missing, invalid, inactive, deleted or expired"],
  [403, "ForbiddenError: the scope is missing, or the account has no API access"],
  [404, "RecordNotFound"],
  [429, "TooManyRequestsError: the hour, the month, or the address"],
];

/** @param request what asks for it: its sender reaches the sandbox where it did */
export function describeService(
  endpoints: Endpoint[],
  { headers, root }: Pick<ReceivedRequest, "headers" | "root">,
): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method]: describeOperation(endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Email marketing contacts, as the sandbox of ecm answers",
      version,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: findServerUrl(headers.host, root) || "/", description: "This sandbox" }],
    security: [{ apiKey: [] }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { apiKey: { type: "apiKey", in: "header", name: "X-API-Key" } },
      schemas: describeParts(),
    },
  };
}

function describeOperation(endpoint: Endpoint): object {
  const answer = endpoint.result && {
    content: { "application/json": { schema: toJsonSchema(endpoint.result) } },
  };
  return {
    operationId: endpoint.id,
    tags: [tags.find(([, , path]) => path.test(endpoint.path))![0]],
    summary: endpoint.summary,
    description: `Scope: ${endpoint.scope}`,
    parameters: [...pathParameters(endpoint.path), ...queryParameters(endpoint.query)],
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: toJsonSchema(endpoint.body) } },
      },
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
  const { properties = {}, required = [] } = toJsonSchema(query);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

/** Each part without a reference to itself. */
function describeParts(): Record<string, object> {
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
function toJsonSchema(schema: GenericSchema, named = parts): RequestSchema {
  const whole = convert(schema as Parameters<typeof convert>[0], {
    target: "draft-2020-12",
    typeMode: "input",
    errorMode: "ignore",
    definitions: named as Record<string, Parameters<typeof convert>[0]>,
  });
  const { $schema: _schema, $defs: _definitions, ...rest } = whole;
  const text = JSON.stringify(rest).replaceAll('"#/$defs/', '"#/components/schemas/');
  // Generators treat a member with a default as always present, in requests too.
  return JSON.parse(text, (name, value) => (name === "default" ? undefined : value));
}
