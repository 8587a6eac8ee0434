/** What a tool is, before it is offered over the protocol. */

/** The part of JSON Schema that the tools' inputs use. */
export interface InputSchema {
  type: "object";
  properties: Record<string, object>;
  required?: string[];
  additionalProperties: false;
  [keyword: string]: unknown;
}

export interface Tool {
  name: string;
  description: string;
  inputSchema: InputSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
  /** @param input valid by the schema. @throws ToolFailure, EcmError */
  call(input: never, signal: AbortSignal): Promise<object>;
}

/** A failure that has a shape already: the JSON error of a command. */
export class ToolFailure extends Error {
  readonly failure: object;

  constructor(failure: object) {
    super("A command failed");
    this.failure = failure;
  }
}

/** For tools that send no write. */
export const readOnlyAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

export function createInputSchema(
  properties: InputSchema["properties"],
  more: Record<string, unknown> = {},
): InputSchema {
  return { type: "object", properties, ...more, additionalProperties: false };
}

/** Rows of one answer: the most, and how many unless asked. */
export const maxRows = 200;
export const defaultRows = 100;

export const limitInput = { type: "integer", minimum: 1, maximum: maxRows, default: defaultRows };
export const pageInput = { type: "integer", minimum: 1, default: 1 };

export function textsSchema(description: string): object {
  return { type: "array", items: { type: "string", minLength: 1 }, maxItems: maxRows, description };
}

/** The same where an empty array would mean no condition, and so everybody. */
export function nonEmptyTextsSchema(description: string): object {
  return { ...textsSchema(description), minItems: 1 };
}

export function textSchema(description: string): object {
  return { type: "string", minLength: 1, description };
}
