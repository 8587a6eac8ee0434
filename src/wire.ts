/**
 * The shapes on the wire (specification, Resources and Endpoints), and the two seams between client and
 * service: `Send` for everyone who talks to the service, `Transport` for those who carry bytes.
 * Types only: this file holds no behaviour and imports nothing but types.
 */

import type { EcmError } from "./errors.ts";
import type { RateLimits } from "./rate-limits.ts";

export type { RateLimits } from "./rate-limits.ts";

/** A reference to a list or a tag: how contacts and mutates name them. */
export interface IdRef {
  _id: string;
}

/** A field's value of one contact, addressed by the field's id. */
export interface FieldValue {
  _id: string;
  value: string;
}

export interface ContactStatus {
  primary: string;
  secondary?: string;
}

/** A contact as the service gives it. In a search only what `source` names is there. */
export interface Contact {
  _id: string;
  key: string;
  contactStructureId: string;
  fields?: FieldValue[];
  lists?: IdRef[];
  tags?: IdRef[];
  status?: ContactStatus;
  /** The two parts of the status as a search gives them; elsewhere they come as `status`. */
  contactStatus?: string;
  contactSubStatus?: string;
  createdAt?: string;
  updatedAt?: string;
  __v?: number;
}

export interface FieldDefinition {
  _id: string;
  label: string;
  dataType: string;
  required?: boolean;
  predefinedField?: string;
}

export interface TagDefinition {
  _id: string;
  label: string;
}

export interface ContactStructure {
  _id: string;
  label: string;
  keyName: string;
  keyType: string;
  fields: FieldDefinition[];
  /** Absent in answers that follow the specification's listing to the letter. */
  tags?: TagDefinition[];
  __v?: number;
}

export interface ContactList {
  _id: string;
  name: string;
  type?: string;
  totalContacts?: number;
  createdAt?: string;
  updatedAt?: string;
  __v?: number;
}

/** Body of POST /api/contact. */
export interface CreateContactBody {
  key: string;
  contactStructureId: string;
  fields?: FieldValue[];
  lists?: IdRef[];
  tags?: IdRef[];
}

export interface Criteria {
  columnToFilter: string;
  operator: string;
  values: string[];
}

export interface Filter {
  criterias: Criteria[];
}

/** Body of POST /api/contact/search. */
export interface SearchBody {
  contactStructureId: string;
  page: number;
  pageSize: number;
  source: string[];
  contactSpecification?: { filters: Filter[] } & Record<string, unknown>;
}

export interface SearchAnswer {
  totalRecords: number;
  contacts: Partial<Contact>[];
}

/** Body of PUT /api/contact/{contactId}/mutate. */
export interface MutateBody {
  addTags?: IdRef[];
  removeTags?: IdRef[];
  addLists?: IdRef[];
  removeLists?: IdRef[];
  updateFields?: FieldValue[];
  __v?: number;
}

/** Body of PUT /api/contact-structure/{id}. New fields and tags come without `_id`. */
export interface UpdateStructureBody {
  label: string;
  keyName: string;
  fields: (Omit<FieldDefinition, "_id"> & { _id?: string } & Record<string, unknown>)[];
  tags: ({ _id?: string; label: string } & Record<string, unknown>)[];
  __v?: number;
}

export interface WireError {
  errorType: string;
  message: string;
  field?: string;
  fieldId?: string;
  /** On `ContactFieldInUseError`: `affectedForms`, an array of `{ _id, name }`. */
  debug?: Record<string, unknown>;
}

/** A description of a request, unsent. Built by `service/`, or by `ecm api`. */
export interface ApiRequest {
  method: string;
  /** Begins with `/api/…` and is appended to the base address. Segments are already percent-encoded. */
  path: string;
  query?: [name: string, value: string][];
  /** A JSON value. Left out: no body is sent. */
  body?: unknown;
  /** Bytes to send as they are, in place of `body` (`ecm api --data`). */
  rawBody?: string;
  /**
   * Whether it can change anything: decides repeats, `--read-only`, and what a failure says. A search is a
   * read.
   */
  effect: "read" | "write";
}

export interface ApiAnswer<T = unknown> {
  status: number;
  headers: Record<string, string>;
  body: T;
  /** The body as it came. */
  text: string;
  /** The body as bytes, where they say more than the text. */
  bytes?: Uint8Array;
  limits: RateLimits;
  /** A write that was answered 2xx was carried out, even if its answer cannot be read. */
  applied?: "yes";
  /** What an answer that is not 2xx means, for those who `expect: "any"`. */
  problem?: EcmError;
}

/** What a request was on the wire, but for the API key. */
export interface SentText {
  /** Path and query. */
  target: string;
  body?: string;
}

/** What happens below `send`, for progress, `--verbose`, and counting. */
export type SendEvent =
  | { kind: "sent"; request: ApiRequest; attempt: number; sent: SentText }
  | {
      kind: "answered";
      request: ApiRequest;
      status: number;
      milliseconds: number;
      limits: RateLimits;
      text: string;
    }
  | { kind: "lost"; request: ApiRequest; milliseconds: number; message: string }
  | { kind: "waiting"; request: ApiRequest; seconds: number; why: string };

export interface SendOptions {
  /**
   * Longest total wait for 429s, in seconds. 0: a 429 is thrown at once. Default: the command's `--max-wait`.
   */
  maxWaitSeconds?: number;
  /**
   * `json` (default): a body that is not JSON is an error. `any`: the answer as it came, whatever its status.
   */
  expect?: "json" | "any";
  onEvent?: (event: SendEvent) => void;
  /** Called right before each attempt, after any wait. What it throws ends the request. */
  beforeLeaving?: () => void;
  /** In place of the command's own: a bulk run lets what is under way come back when it is interrupted. */
  signal?: AbortSignal;
}

/**
 * Performs a request: signs it, repeats it where the retry rule allows, reads the limits.
 * @throws ServiceError for an answer that is not 2xx; UnreachableError when none came; UnreadableAnswerError;
 *   UsageError when `--read-only` forbids it; InterruptedError when the signal fired.
 */
export type Send = <T = unknown>(request: ApiRequest, options?: SendOptions) => Promise<ApiAnswer<T>>;

/** One HTTP exchange, below signing and retries: over the network, or in the embedded service. */
export interface WireRequest {
  method: string;
  /** Absolute, with query. */
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Infinite: wait for ever. */
  timeoutMilliseconds: number;
  signal?: AbortSignal;
}

export interface WireAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  text: string;
  /** The body's bytes, where the transport has them. */
  bytes?: Uint8Array;
}

/**
 * What a transport throws: an Error with a `code` as undici and Node name them, and what is known of the
 * exchange.
 */
export interface TransportFailure extends Error {
  /**
   * E.g. ECONNREFUSED, ENOTFOUND, ECONNRESET, UND_ERR_CONNECT_TIMEOUT, UND_ERR_HEADERS_TIMEOUT,
   * UND_ERR_SOCKET.
   */
  code?: string;
  /** False when it is certain that no byte of the request left. */
  wasSent?: boolean;
  /** The request may have gone through a proxy. */
  isProxied?: boolean;
  /** What had come when the answer broke off. */
  partial?: WireAnswer;
}

/** @throws TransportFailure when no whole answer comes; the signal's reason when it fires. */
export type Transport = (request: WireRequest) => Promise<WireAnswer>;

/** Time, so that tests and the embedded service can be run on another one. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after the time, rejects with the signal's reason when it fires first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}
