/**
 * Requests that HTTP itself refuses: they are answered in JSON too,
 * and reach neither the service nor its limits.
 */
import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { type Answer, contentType, refusalAnswer } from "../request.ts";
import { invalid } from "../rules/refusal.ts";

/** Which answer is under way on a connection. */
export interface Exchanges {
  /** Whether the head of an answer has left on it: nothing else may be written then. */
  isAnswering(connection: Duplex): boolean;
}

export function answerMalformed(server: Server, exchanges: Exchanges): void {
  server.on("clientError", (error: NodeJS.ErrnoException, connection) => {
    if (!connection.writable || error.code === "ECONNRESET" || exchanges.isAnswering(connection)) {
      connection.destroy(error);
      return;
    }
    writeRaw(connection, malformed(messageFor(error)));
  });
  // Without listeners, these two get an empty answer, or none.
  server.on("checkExpectation", (_incoming, outgoing) => {
    const { status, text } = malformed("The header Expect must be 100-continue");
    outgoing.writeHead(status, { "Content-Type": contentType, Connection: "close" }).end(text);
  });
  server.on("connect", (_incoming, connection) => {
    writeRaw(connection, malformed("The method CONNECT is not supported"));
  });
}

export function malformed(message: string): Answer {
  return refusalAnswer(invalid(message));
}

function messageFor({ code, message }: NodeJS.ErrnoException): string {
  if (code === "HPE_HEADER_OVERFLOW") return "The headers of the request are too large";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "The request did not arrive in time";
  return `The request is not valid HTTP: ${message}`;
}

function writeRaw(connection: Duplex, { status, text }: Answer): void {
  const head = [
    `HTTP/1.1 ${status} Bad Request`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  connection.end(`${head.join("\r\n")}\r\n\r\n${text}`, () => connection.destroy());
}
