/** Answers that are larger than anybody can have meant. */
import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { startHttpServer } from "../support/http-server.ts";
import { createSendTo } from "../support/test-send.ts";

const mebibyte = Buffer.alloc(1024 * 1024, "x");

/** As many MiB as it can send; a caller who has enough ends the connection. */
async function sendMany(response: ServerResponse, count: number, first = ""): Promise<void> {
  response.on("error", () => undefined);
  response.write(first);
  for (let sent = 0; sent < count && !response.destroyed; sent++) {
    if (response.write(mebibyte)) continue;
    await new Promise<void>((resolve) => {
      const go = () => {
        response.off("drain", go).off("close", go);
        resolve();
      };
      response.on("drain", go).on("close", go);
    });
  }
  response.end();
}

describe.each(["single", "bulk"] as const)("an answer beyond 64 MiB over a %s connection", (purpose) => {
  it("is cut off, and the request, which was applied, is not sent again", async () => {
    const server = await startHttpServer((_request, response) => void sendMany(response, 1024));
    const { send } = await createSendTo(server.baseUrl, { timeoutSeconds: 60 }, purpose);
    await expect(send({ method: "POST", path: "/api/contact", effect: "write" })).rejects.toMatchObject({
      exitCode: 1,
      type: "UnreadableAnswerError",
      message: expect.stringContaining("it is larger than 64 MiB"),
      details: { applied: "yes" },
    });
    expect(server.requests).toHaveLength(1);
  });

  it("with an error's status is that error", async () => {
    const server = await startHttpServer((_request, response) => {
      response.writeHead(404);
      void sendMany(response, 1024);
    });
    const { send } = await createSendTo(server.baseUrl, { timeoutSeconds: 60 }, purpose);
    await expect(send({ method: "GET", path: "/api/contact/1", effect: "read" })).rejects.toMatchObject({
      exitCode: 5,
    });
  });
});
