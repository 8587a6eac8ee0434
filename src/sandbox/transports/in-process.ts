/** The transport within this process: the application answers without a network. */
import type { Transport } from "../../wire.ts";
import { isAdminPath } from "../admin-api/access.ts";
import type { AdminBindings } from "../admin-api/routes.ts";
import { contentType, limitBody } from "../request.ts";
import type { Service, ServiceReply } from "../service.ts";

const address = "in-process";

/** Answers everything below /__sandbox/. */
export type AdminApi = (
  request: Request,
  bindings: Pick<AdminBindings, "address" | "incoming" | "closing">,
) => Promise<Response>;

export function inProcessTransport({
  service,
  adminApi,
}: {
  service: Service;
  adminApi: AdminApi;
}): Transport {
  return async ({ method, url, headers, body = "", timeoutMilliseconds, signal }) => {
    signal?.throwIfAborted();
    const { pathname, search } = new URL(url);
    const given = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]),
    );
    const outcome = isAdminPath(pathname)
      ? adminReply(adminApi, new Request(url, { method, headers, body: body === "" ? undefined : body }))
      : service({
          method: method.toUpperCase(),
          target: `${pathname}${search}`,
          headers: given,
          address,
          readBody: async () => limitBody(Buffer.from(body)),
        });
    const { answer, isCut } = await inTime(outcome, timeoutMilliseconds, signal);
    if (!answer || isCut) throw failure("ECONNRESET", "the connection was dropped");
    const { status } = answer;
    const text = method === "HEAD" ? "" : answer.text;
    const responseHeaders = Object.fromEntries(
      Object.entries({ ...(answer.text !== "" && { "Content-Type": contentType }), ...answer.headers }).map(
        ([name, value]) => [name.toLowerCase(), value],
      ),
    );
    return { status, headers: responseHeaders, text };
  };
}

async function adminReply(adminApi: AdminApi, request: Request): Promise<ServiceReply> {
  const response = await adminApi(request, { address });
  const { status, headers } = response;
  return { answer: { status, headers: Object.fromEntries(headers), text: await response.text() } };
}

/** As on a network: the caller stops waiting, and the request may still be carried out. */
function inTime(
  reply: Promise<ServiceReply>,
  milliseconds: number,
  signal?: AbortSignal,
): Promise<ServiceReply> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    const timer = setTimeout(
      () => reject(failure("UND_ERR_HEADERS_TIMEOUT", "no answer in time")),
      Math.min(milliseconds, 2 ** 31 - 1),
    );
    signal?.addEventListener("abort", onAbort, { once: true });
    reply.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
