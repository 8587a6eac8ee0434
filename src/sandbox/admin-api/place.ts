/** Where /__sandbox/ is served, for which account, and what its requests bring along. */
import type { IncomingMessage } from "node:http";
import type { Context } from "hono";
import type { GenericSchema } from "valibot";
import type { WorldOptions } from "../public-types.ts";

/** What a transport knows of a request beside the request itself. */
export interface Bindings {
  /** Where it comes from. */
  address: string;
  /** The message itself, where there is one: its body is read directly. */
  incoming?: IncomingMessage;
  /** Fires when the transport closes: answers without an end stop. */
  closing?: AbortSignal;
}

/** Answers everything below /__sandbox/. */
export type AdminApi = (request: Request, bindings: Bindings) => Promise<Response>;

export type AdminContext = Context<{ Bindings: Bindings }>;

/** A world as its opener needs it. */
export interface WorldView {
  id: string;
  /** The path below which it is served. */
  root: string;
  apiKey: string;
  structureId: string;
}

/** Opens and closes further accounts of the sandbox. */
export interface WorldAdmin {
  create(options: WorldOptions): Promise<WorldView>;
  list(): WorldView[];
  close(id: string): void;
  closeAll(): void;
}

/** Where an account is served. */
export interface AccountPlace {
  /** The path below which it is; the main one is at the root. */
  root: string;
  /** Absent: it opens no further ones. */
  worlds?: WorldAdmin;
}

export interface AdminPlace extends AccountPlace {
  /** Without one, only this machine is answered. */
  adminToken?: string;
  /** Fires when the account closes: answers without an end stop. */
  closing: AbortSignal;
}

/** What a method and a path do. */
export interface AdminAction {
  /** What generated clients call it. */
  id: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below /__sandbox; parameters as `:name`. */
  path: string;
  summary: string;
  body?: GenericSchema;
  query?: GenericSchema;
  /** The schema of the answer; absent: 204 without a body, unless it has another type. */
  result?: GenericSchema;
  /** Default: JSON. */
  contentType?: string;
  /** The JSON of the answer; undefined for one without a body. */
  act(context: AdminContext): unknown;
}
