/** Contact structures: options → request, answer → result (specification, /api/contact-structure). Pure. */
import { UnreadableAnswerError } from "../errors.ts";
import type { ApiAnswer, ApiRequest, ContactStructure, UpdateStructureBody } from "../wire.ts";

export function listStructuresRequest(): ApiRequest {
  return { method: "GET", path: "/api/contact-structure", effect: "read" };
}

export function getStructureRequest(structureId: string): ApiRequest {
  return {
    method: "GET",
    path: `/api/contact-structure/${encodeURIComponent(structureId)}`,
    effect: "read",
  };
}

export function updateStructureRequest(structureId: string, body: UpdateStructureBody): ApiRequest {
  return {
    method: "PUT",
    path: `/api/contact-structure/${encodeURIComponent(structureId)}`,
    body,
    effect: "write",
  };
}

/** @throws UnreadableAnswerError when the answer is not an array of structures. */
export function readStructures(answer: ApiAnswer): ContactStructure[] {
  if (!Array.isArray(answer.body)) {
    throw new UnreadableAnswerError("the answer is not a list of contact structures", {
      status: answer.status,
    });
  }
  return answer.body as ContactStructure[];
}

/** @throws UnreadableAnswerError when the answer is not a structure. */
export function readStructure(answer: ApiAnswer): ContactStructure {
  const body = answer.body as Partial<ContactStructure> | null;
  if (typeof body?._id !== "string") {
    throw new UnreadableAnswerError("the answer is not a contact structure: it has no _id", {
      status: answer.status,
    });
  }
  return body as ContactStructure;
}
