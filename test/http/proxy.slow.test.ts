/** HTTPS_PROXY and NO_PROXY, through real proxies on loopback. */
import { createServer } from "node:http";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { json, listen, plainStructure, startHttpServer, startSandbox, startService } from "../kit.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";

const baseUrl = "https://api.example.com";

/** A proxy that remembers what was asked of it; it leads every tunnel to the target, or refuses. */
async function startProxy(target?: string) {
  const requests: string[] = [];
  const server = createServer();
  server.on("connect", (request, socket) => {
    requests.push(`CONNECT ${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
    socket.on("error", () => undefined);
    if (target === undefined) return socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
    const onward = connect(Number(new URL(target).port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    onTestFinished(() => void onward.destroy());
  });
  return { requests, url: `http://127.0.0.1:${await listen(server)}` };
}

/** `ecm` with a key to a service that only a proxy reaches. */
const ecmVia = async (proxy: Record<string, string>, address = baseUrl) =>
  ecmWith({ ...(await temporaryHome()), ECM_BASE_URL: address, ECM_API_KEY: "k".repeat(50), ...proxy });

it("requests through a proxy reach the service", async () => {
  const service = await startHttpServer((_request, response) => json(response, 200, [plainStructure]));
  const { requests, url } = await startProxy(service.baseUrl);
  const HTTP_PROXY = url.replace("//", "//user:secret@");
  const ecm = await ecmVia({ ECM_INSECURE_HTTP: "api.internal", HTTP_PROXY }, "http://api.internal");
  const { code, stdout } = await ecm(["structure", "list", "-o", "id", "-q"]);
  expect([code, stdout]).toEqual([0, `${plainStructure._id}\n`]);
  const credentials = Buffer.from("user:secret").toString("base64");
  expect(requests[0]).toBe(`CONNECT api.internal:80 Basic ${credentials}`);
});

it("requests through a proxy are tunnelled for https, and what the proxy refuses was not applied", async () => {
  const { requests, url } = await startProxy();
  const ecm = await ecmVia({ HTTPS_PROXY: url });
  const result = await ecm(["api", "POST", "/api/contact", "-f", "key=a@b.co", "--json"]);
  expect(result.code).toBe(8);
  const error = { applied: "no", message: expect.stringContaining("502") };
  expect(JSON.parse(result.stderr).error).toMatchObject(error);
  expect(new Set(requests)).toEqual(new Set(["CONNECT api.example.com:443"]));
});

it("requests through a proxy that fail are blamed on the proxy, with what to do about it", async () => {
  const { url } = await startProxy();
  const refusing = createServer((_request, response) => response.writeHead(403).end());
  refusing.on("connect", (_request, socket) => {
    socket.on("error", () => undefined).end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
  });
  const asking = `http://127.0.0.1:${await listen(refusing)}`;
  const closed = "http://127.0.0.1:9";
  for (const [proxy, message, hint] of [
    [url, "Proxy response (502)", "NO_PROXY"],
    [asking, "Proxy response (407)", "HTTPS_PROXY"],
    ["http://", "HTTPS_PROXY or HTTP_PROXY is not the address of an HTTP proxy", "Such as"],
    [closed, "the connection was refused", "HTTPS_PROXY"],
  ] as const) {
    const ecm = await ecmVia({ HTTPS_PROXY: proxy.replace("//", "//user:secret@") });
    const result = await ecm(["lists", "list", "--json"]);
    const { error } = JSON.parse(result.stderr);
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
    expect(result.stderr).not.toContain("secret");
  }
});

it("requests through a proxy that are answered by a page are not blamed on the key", async () => {
  const { ecm } = await startService((_request, response) => {
    response.writeHead(403, { "content-type": "text/html" }).end("<html>Blocked by policy</html>");
  });
  const { stderr, code } = await ecm(["lists", "list"]);
  expect(code).toBe(4);
  expect(stderr).toMatch(/hint: .*proxy.*firewall/);
  expect(stderr).not.toContain("Check the key");
});

it("no request to a host that NO_PROXY names is made through the proxy", async () => {
  const { requests, url } = await startProxy();
  const ecm = await ecmVia({ HTTPS_PROXY: url, NO_PROXY: "other.com, .invalid" }, "https://none.invalid");
  const { code } = await ecm(["lists", "list"]);
  expect({ code, requests }).toEqual({ code: 8, requests: [] });
});

it("no request to a loopback address is made through the proxy", async () => {
  const { ecm } = await startSandbox();
  const result = await ecm(["structure", "list", "-o", "id"], {
    env: { HTTP_PROXY: "http://127.0.0.1:9", HTTPS_PROXY: "http://127.0.0.1:9" },
  });
  expect(result.code, result.stderr).toBe(0);
});
