/** The door behind a port: the same service over HTTP. */
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { UsageError } from "../../errors.ts";
import { isAdminPath } from "../admin-api/access.ts";
import { respond } from "../app.ts";
import type { Service } from "../service.ts";
import { foreignHeaderOf, isLoopbackAddress } from "./foreign.ts";

/** How long answers under way may take when the door closes. */
const closingMilliseconds = 1000;

export interface OpenPort {
  baseUrl: string;
  /** False when other machines can reach it. */
  isLoopback: boolean;
  /** Takes no more connections, and lets answers under way end, for a second at most. */
  close(): Promise<void>;
}

/** @throws UsageError when the address cannot be listened on */
export async function openPort(
  service: Service,
  { host, port }: { host: string; port: number },
): Promise<OpenPort> {
  const closing = new AbortController();
  const server = createAdaptorServer({
    fetch: async (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      const address = incoming.socket.remoteAddress ?? "";
      // The paths of /__sandbox/ have rules of their own (admin-api/access.ts).
      const isChecked = isLoopbackAddress(address) && !isAdminPath(new URL(request.url).pathname);
      const foreign = isChecked ? foreignHeaderOf(incoming.headers) : undefined;
      if (foreign) return foreignRefusal(foreign);
      const { response, isCut } = await service(request, { address, incoming, closing: closing.signal });
      if (response && !isCut) return response;
      if (response) await cut(outgoing, response);
      else incoming.socket.resetAndDestroy();
      return RESPONSE_ALREADY_SENT;
    },
    overrideGlobalObjects: false,
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  }).catch((error: Error) => {
    throw new UsageError(
      `Cannot listen on ${host}, port ${port}: ${error.message}`,
      "Choose another with --host and --port; port 0 takes any free one",
    );
  });
  const { address, family, port: actualPort } = server.address() as AddressInfo;
  return {
    baseUrl: `http://${reachable(address, family)}:${actualPort}`,
    isLoopback: isLoopbackAddress(address),
    async close() {
      closing.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      if (!("closeIdleConnections" in server)) return;
      // A connection is idle as soon as its answer has ended.
      const idle = setInterval(() => server.closeIdleConnections(), 10);
      const timer = setTimeout(() => server.closeAllConnections(), closingMilliseconds);
      await closed;
      clearInterval(idle);
      clearTimeout(timer);
    },
  };
}

/** Before the service sees the request: it counts for no limit and for no block. */
function foreignRefusal(header: string): Response {
  const message = `On loopback this sandbox answers no requests from other sites (header ${header})`;
  return respond({ status: 403, body: { errors: [{ errorType: "ForbiddenError", message }] }, headers: {} });
}

/** Promises the whole body, sends half of it, and drops the connection. */
async function cut(outgoing: ServerResponse, response: Response): Promise<void> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    "content-length": String(bytes.length),
  });
  await new Promise<void>((resolve) => {
    outgoing.write(bytes.subarray(0, bytes.length >> 1), () => resolve());
  });
  outgoing.socket?.destroySoon();
}

/** An address to call: "every address" is reached through the loopback one. */
function reachable(address: string, family: string): string {
  if (address === "0.0.0.0") return "127.0.0.1";
  if (address === "::") return "[::1]";
  return family === "IPv6" ? `[${address}]` : address;
}
