/** What the tests of this folder share. */
import type { ApiAnswer, ApiRequest, Send } from "../../src/wire.ts";

/** A service without a network. @param answer the body of each answer, or it throws */
export function sendTo(answer: (request: ApiRequest) => unknown): Send {
  const send = async (request: ApiRequest) => {
    const body = answer(request);
    return { status: 200, body, request, headers: {}, text: "", limits: {} } as unknown as ApiAnswer;
  };
  return send as Send;
}
