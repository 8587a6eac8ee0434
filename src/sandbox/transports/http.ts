/** The transport behind a port: the same service over HTTP. */
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { usageError } from "../../errors.ts";
import { findForeignHeader, isAdminPath, isLoopbackAddress } from "../admin-api/access.ts";
import { type Answer, contentType, failure, readMessage, refusalAnswer, targetPath } from "../request.ts";
import { forbidden, invalid } from "../rules/refusal.ts";
import type { Service } from "../service.ts";
import type { AdminApi } from "./in-process.ts";

/** How long answers under way may take when the port closes. */
const closingMilliseconds = 1000;

export interface PortOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** False lets a process that has nothing else to do end, although the port is open. Default: true. */
  keepsProcess?: boolean;
}

export interface OpenPort {
  baseUrl: string;
  /** False when other machines can reach it. */
  isLoopback: boolean;
  /** Accepts no more connections, and waits at most a second for answers under way. */
  close(): Promise<void>;
}

/** @throws UsageError when the address cannot be listened on */
export async function openPort(
  { service, adminApi }: { service: Service; adminApi: AdminApi },
  { host, port, keepsProcess = true }: PortOptions,
): Promise<OpenPort> {
  const closing = new AbortController();
  const answerAdmin = getRequestListener(
    (request, env) => {
      const { incoming } = env as { incoming: IncomingMessage };
      const address = incoming.socket.remoteAddress ?? "";
      return adminApi(request, { address, incoming, closing: closing.signal });
    },
    { overrideGlobalObjects: false },
  );
  const server = createServer((incoming, outgoing) => {
    const target = parseTarget(incoming.url ?? "");
    if (target === undefined) {
      return write(outgoing, refusalAnswer(invalid("The address of the request is not valid")));
    }
    // The paths of /__sandbox/ have rules of their own (admin-api/access.ts).
    if (isAdminPath(targetPath(target))) return void answerAdmin(incoming, outgoing);
    answer(service, target, incoming, outgoing).catch((error) => write(outgoing, failure(error)));
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    if (!keepsProcess) socket.unref();
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  }).catch((error: Error) => {
    throw usageError(
      `Cannot listen on ${host}, port ${port}: ${error.message}`,
      "Choose another with --host and --port; port 0 takes any free one",
    );
  });
  if (!keepsProcess) server.unref();
  const { address, family, port: actualPort } = server.address() as AddressInfo;
  return {
    baseUrl: `http://${reachable(address, family)}:${actualPort}`,
    isLoopback: isLoopbackAddress(address),
    async close() {
      closing.abort();
      // The server's own `close` would close idle connections at once.
      const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
      // A connection counts as idle as soon as its answer has ended, although some of it may not have left
      // yet.
      const isSending = () => [...sockets].some((socket) => socket.writableLength > 0);
      const idle = setInterval(() => isSending() || server.closeIdleConnections(), 10);
      const timer = setTimeout(() => server.closeAllConnections(), closingMilliseconds);
      await closed;
      clearInterval(idle);
      clearTimeout(timer);
      // Ends the server's own watch over connections.
      server.close();
    },
  };
}

async function answer(
  service: Service,
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { headers, socket } = incoming;
  const address = socket.remoteAddress ?? "";
  const foreign = isLoopbackAddress(address) ? findForeignHeader(headers) : undefined;
  if (foreign) {
    // Before the service sees the request: it counts for no limit and for no block.
    const message = `On loopback this sandbox answers no requests from other sites (header ${foreign})`;
    return write(outgoing, refusalAnswer(forbidden(message)));
  }
  const { answer, isCut } = await service({
    method: incoming.method ?? "GET",
    target,
    headers,
    address,
    readBody: () => readMessage(incoming),
  });
  if (!answer) socket.resetAndDestroy();
  else if (isCut) await writeHalf(outgoing, answer);
  else write(outgoing, answer);
}

const plainTarget = /^\/[!$&-;=?-[\]_a-z~]*$/i;

/** The path and query of a request line, written as in a URL; undefined for an invalid one. */
function parseTarget(url: string): string | undefined {
  if (plainTarget.test(url) && !url.includes("/.")) return url;
  if (targetPath(url).includes("\\")) return undefined;
  try {
    const { pathname, search } = new URL(url.startsWith("/") ? `http://sandbox${url}` : url);
    return `${pathname}${search}`;
  } catch {
    return undefined;
  }
}

function write(outgoing: ServerResponse, answer: Answer): void {
  outgoing.writeHead(answer.status, responseHeaders(answer)).end(answer.text);
}

function responseHeaders({ headers, text }: Answer): OutgoingHttpHeaders {
  if (text === "") return headers;
  return { ...headers, "Content-Type": contentType, "Content-Length": Buffer.byteLength(text) };
}

/** Promises the whole body, sends half of it, and drops the connection. */
async function writeHalf(outgoing: ServerResponse, answer: Answer): Promise<void> {
  const bytes = Buffer.from(answer.text);
  outgoing.writeHead(answer.status, responseHeaders(answer));
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
