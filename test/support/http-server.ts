/** A server on loopback that answers as a test says: broken, foreign, slow, or simply small. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { onTestFinished } from "vitest";

interface ReceivedRequest {
  method: string;
  /** Path and query as they came. */
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface HttpServer {
  baseUrl: string;
  /** Every request so far, in order. */
  requests: ReceivedRequest[];
}

export type Answerer = (
  request: ReceivedRequest,
  response: ServerResponse,
  /** Counts from 1. */
  count: number,
) => void;

/** Listens on a free port of loopback until the test ends. @returns the port */
export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
  });
  return (server.address() as AddressInfo).port;
}

/** Starts one. @param tls key and certificate, for https */
export async function startHttpServer(
  answer: Answerer,
  tls?: { key: Buffer; cert: Buffer },
): Promise<HttpServer> {
  const requests: ReceivedRequest[] = [];
  const receive = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => undefined);
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("utf8");
      const { method = "", url = "", headers } = request;
      requests.push({ method, url, headers, body });
      answer(requests.at(-1)!, response, requests.length);
    });
  };
  const port = await listen(tls ? createSecureServer(tls, receive) : createServer(receive));
  return { baseUrl: `${tls ? "https" : "http"}://127.0.0.1:${port}`, requests };
}

/** Ends a response with JSON. */
export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** An error body of the documented form. */
export function errorBody(errorType: string, message: string, more = {}) {
  return { errors: [{ errorType, message, ...more }] };
}
