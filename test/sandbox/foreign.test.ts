/** Web pages in the browser of whoever runs the sandbox. */
import { request } from "node:http";
import { expect, it, test } from "vitest";
import { findForeignHeader, isLoopbackAddress } from "../../src/sandbox/admin-api/access.ts";
import { startSandbox } from "../support/sandbox.ts";

/** `fetch` sets Host and Origin itself; a browser's headers have to be written by hand. */
function ask(baseUrl: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    request(`${baseUrl}/api/contact-structure`, { headers }, (answer) => {
      let body = "";
      answer.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      answer.on("end", () => resolve({ status: answer.statusCode!, body }));
    })
      .on("error", reject)
      .end();
  });
}

test("requests of a foreign page are refused and block nobody", async () => {
  const { baseUrl, apiKey } = await startSandbox({ blockAfter: 3 });
  const foreign: Record<string, string>[] = [
    { host: "rebound.example" },
    { origin: "https://page.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
  ];
  for (const headers of foreign) {
    for (let count = 0; count < 4; count++) {
      const { status, body } = await ask(baseUrl, headers);
      expect(status).toBe(403);
      expect(JSON.parse(body).errors[0].errorType).toBe("ForbiddenError");
    }
  }
  const answer = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": apiKey } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-ratelimit-remaining")).toBe("3599");
});

it.each([
  [{}, undefined],
  [{ host: "127.0.0.1:8080" }, undefined],
  [{ host: "localhost" }, undefined],
  [{ host: "sandbox.localhost:80" }, undefined],
  [{ host: "[::1]:8080" }, undefined],
  [{ host: "127.0.0.1", origin: "http://localhost:3000" }, undefined],
  [{ host: "127.0.0.1", "sec-fetch-site": "same-origin" }, undefined],
  [{ host: "127.0.0.1", "sec-fetch-site": "none" }, undefined],
  [{ host: "127.0.0.1.evil.example" }, "Host"],
  [{ host: "localhost.evil.example" }, "Host"],
  [{ host: "notlocalhost" }, "Host"],
  [{ host: "[::1].evil.example" }, "Host"],
  [{ host: "user@127.0.0.1" }, "Host"],
  [{ host: "" }, "Host"],
  [{ host: "localhost", origin: "http://localhost.evil.example" }, "Origin"],
  [{ host: "localhost", origin: "http://localhost@evil.example" }, "Origin"],
  [{ host: "localhost", origin: "file://" }, "Origin"],
  [{ host: "localhost", origin: "" }, "Origin"],
] as const)("takes the headers %j as foreign by %s", (headers, by) => {
  expect(findForeignHeader(headers)).toBe(by);
});

test.each(["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])("%s is loopback", (address) => {
  expect(isLoopbackAddress(address)).toBe(true);
});

test.each(["", "10.0.0.1", "::2", "::ffff:10.0.0.1", "127.0.0.1.example"])("%j is not", (address) => {
  expect(isLoopbackAddress(address)).toBe(false);
});
