/** Contact structures: options → request, answer → result (specification, /api/contact-structure). Pure. */
import { unreadableAnswerError } from "../errors.ts";
import type { ApiAnswer, ApiRequest, ContactStructure, UpdateStructureBody } from "../wire.ts";
import { pathOf, readRequest, writeRequest } from "./records.ts";

export function listStructuresRequest(): ApiRequest {
  return readRequest("/api/contact-structure");
}

export function getStructureRequest(structureId: string): ApiRequest {
  return readRequest(pathOf("/api/contact-structure", structureId));
}

export function updateStructureRequest(structureId: string, body: UpdateStructureBody): ApiRequest {
  return writeRequest("PUT", pathOf("/api/contact-structure", structureId), body);
}

/** @throws UnreadableAnswerError when the answer is not an array of structures. */
export function readStructures(answer: ApiAnswer): ContactStructure[] {
  if (!Array.isArray(answer.body) || !answer.body.every(isStructure)) {
    throw unreadableAnswerError("The answer is not a list of contact structures", undefined, {
      status: answer.status,
    });
  }
  return answer.body as ContactStructure[];
}

/** @throws UnreadableAnswerError when the answer is not a structure. */
export function readStructure(answer: ApiAnswer): ContactStructure {
  if (isStructure(answer.body)) return answer.body;
  throw unreadableAnswerError(
    "The answer is not a contact structure with an _id, a label and fields",
    undefined,
    { status: answer.status, applied: answer.applied },
  );
}

/** What everything that reads a structure relies on. */
function isStructure(value: unknown): value is ContactStructure {
  const { _id, label, fields, tags = [] } = (value ?? {}) as Partial<ContactStructure>;
  return typeof _id === "string" && typeof label === "string" && Array.isArray(fields) && Array.isArray(tags);
}

/** Whether a structure's keys are addresses: those are one key in every letter case. */
export function isEmailKey(keyType: string | undefined): boolean {
  return keyType?.toLowerCase() === "email";
}
