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
  /** Of what `call` returns. */
  outputSchema: OutputSchema;
  annotations: {
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    /** The protocol's default is true. */
    openWorldHint?: false;
  };
  /** Words of the command that it runs. */
  path?: readonly string[];
  /** What it calls the flags of its command, for messages. */
  names?: ReadonlyMap<string, string>;
  /** @param input valid by the schema. @throws ToolFailure, EcmError */
  call(input: never, signal: AbortSignal, talk: Talk): Promise<object>;
}

export type OutputSchema = InputSchema | { type: "object"; [keyword: string]: unknown };

/** How far a run is. */
export interface RunProgressNow {
  done: number;
  total?: number;
  what: string;
}

/** What a call may say to its client before it answers. */
export interface Talk {
  /** The client can ask its user. */
  canAsk: boolean;
  /** What the user said to the question that this call asked before; without content: no. */
  reply: { content: Record<string, unknown> | undefined } | undefined;
  /** Tells the client from now on how far the run is. */
  watch(readNow: () => RunProgressNow): void;
}

/** Thrown by a call that asks the client's user first; it is called again with the reply. */
export class Question extends Error {
  readonly properties: Record<string, { type: "integer" | "boolean"; title: string }>;

  constructor(message: string, properties: Question["properties"]) {
    super(message);
    this.properties = properties;
  }
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

/** Rows of what the service or a file gave, with how to get the rest. */
export function rowsSchema(name: string): OutputSchema {
  return {
    type: "object",
    properties: {
      [name]: { type: "array", items: { type: "object" } },
      total: { type: ["integer", "null"] },
      hasMore: { type: "boolean" },
      nextPage: { type: "integer" },
    },
    required: [name],
  };
}

/** What the service gives as it is. */
export const anySchema: OutputSchema = { type: "object" };

/** One thing of the service. */
export function thingSchema(...names: string[]): OutputSchema {
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "object" }])),
    required: names.slice(0, 1),
  };
}

export function textSchema(description: string): object {
  return { type: "string", minLength: 1, description };
}
