/** Answers that are larger than anybody can have meant, and answers that are put into a file. */

import { readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { type Answerer, errorBody, json, startHttpServer } from "../support/http-server.ts";
import { startService } from "../support/service.ts";
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
  it.each(["read", "write"] as const)(
    "to a %s is cut off, and the request is not sent again",
    async (effect) => {
      const server = await startHttpServer((_request, response) => void sendMany(response, 1024));
      const { send } = await createSendTo(server.baseUrl, { timeoutSeconds: 60 }, purpose);
      const sending = send({ method: effect === "read" ? "GET" : "POST", path: "/api/contact", effect });
      await expect(sending).rejects.toMatchObject({
        exitCode: 1,
        type: "UnreadableAnswerError",
        message: expect.stringContaining("it is larger than 64 MiB"),
        details: { applied: effect === "write" ? "yes" : undefined },
      });
      expect(server.requests).toHaveLength(1);
    },
  );

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

describe("ecm api --output-file", () => {
  async function scene(answer: Answerer) {
    const { server, ecm } = await startService(answer);
    const folder = await temporaryFolder();
    return { server, ecm, folder, file: join(folder, "body") };
  }

  it("leaves no file behind a refusal, whose body goes to stdout", async () => {
    const { ecm, file, folder } = await scene((_request, response) =>
      json(response, 404, errorBody("RecordNotFound", "Contact not found")),
    );
    const result = await ecm(["api", "GET", "/api/x", "--output-file", file]);
    expect(result.code).toBe(5);
    expect(result.stdout).toContain("RecordNotFound");
    expect(await readdir(folder)).toEqual([]);
  });

  it("sends nothing when the file cannot be written", async () => {
    const { ecm, folder, server } = await scene((_request, response) => json(response, 200, {}));
    expect((await ecm(["api", "POST", "/api/x", "--output-file", join(folder, "no/such")])).code).toBe(2);
    expect(server.requests).toEqual([]);
  });

  it("works on the embedded sandbox too", async () => {
    const folder = await temporaryFolder();
    const ecm = ecmWith({ ...(await temporaryHome()), ECM_PROFILE: "sandbox" });
    const file = join(folder, "body");
    expect((await ecm(["api", "GET", "/api/contact-structure", "--output-file", file])).code).toBe(0);
    expect(JSON.parse(await readFile(file, "utf8"))).toHaveLength(1);
  });
});
