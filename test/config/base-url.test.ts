import { expect, it } from "vitest";
import { isSameOrigin, parseBaseUrl } from "../../src/config/base-url.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { readHome } from "../support/home.ts";

it.each([
  ["https://api.example.com", "https://api.example.com"],
  ["https://api.example.com/", "https://api.example.com"],
  ["https://API.example.com:443/v1//", "https://api.example.com/v1"],
  [" https://api.example.com:8443 ", "https://api.example.com:8443"],
  ["http://localhost:4000", "http://localhost:4000"],
  ["http://127.0.0.1:80/", "http://127.0.0.1"],
  ["http://127.9.8.7:1", "http://127.9.8.7:1"],
  ["http://2130706433:1", "http://127.0.0.1:1"],
  ["http://[::1]:5000/x/", "http://[::1]:5000/x"],
])("a base address %j is taken as %j", (text, expected) => {
  expect(parseBaseUrl(text, "--base-url")).toBe(expected);
});

const refused = `http://api.example.com http://localhost.example.com http://127.0.0.1.example.com
  http://0.0.0.0:1 http://[::2] http://192.168.0.1 ftp://127.0.0.1 file:///etc/passwd
  https://user:secret-word@api.example.com https://secret-word@api.example.com //user:secret-word@example.com
  https://api.example.com?x=1 https://api.example.com#x api.example.com https://`;

it.each(["", ...refused.split(/\s+/)])(
  "a base address %j is refused, with the place that it stood in",
  (text) => {
    const message = expect.stringMatching(/^(?!.*secret-word).*ECM_BASE_URL/);
    const refusal = expect.objectContaining({ kind: "usage", message });
    expect(() => parseBaseUrl(text, "ECM_BASE_URL")).toThrow(refusal);
  },
);

it.each([
  ["http://sandbox:8080", "sandbox:8080"],
  ["http://sandbox:8080", "sandbox"],
  ["http://SANDBOX:8080/", "Sandbox:8080"],
  ["http://sandbox", "sandbox:80"],
  ["http://[fd00::1]:8080", "[fd00::1]"],
  ["http://192.168.0.7:8080", "192.168.0.7:8080"],
])("a base address %s may be plain http when ECM_INSECURE_HTTP is %s", (text, host) => {
  expect(parseBaseUrl(text, "--base-url", host)).toBe(text.toLowerCase().replace(/\/$/, ""));
});

const url = "http://sandbox:8080";
const wrongHosts = ["", ..."sandbox:8081 sandbox:80 other * 1 sandbox,other user@sandbox".split(" "), url];
it.each<readonly [url: string, host: string]>([
  ...wrongHosts.map((host) => [url, host] as const),
  ["http://api.sandbox:8080", "sandbox"],
  ["http://sandbox.evil.example", "sandbox"],
  ["ftp://sandbox", "sandbox"],
])("%s stays refused when ECM_INSECURE_HTTP is %j", (text, host) => {
  expect(() => parseBaseUrl(text, "--base-url", host)).toThrow(expect.objectContaining({ kind: "usage" }));
});

it("a base address is of the same origin when scheme, host and port are", () => {
  expect(isSameOrigin("https://a.example/x", "https://a.example:443")).toBe(true);
  expect(isSameOrigin("https://a.example", "https://a.example:444")).toBe(false);
  expect(isSameOrigin("https://127.0.0.1", "http://127.0.0.1")).toBe(false);
});

const key = `ecm_us_${"Ab3-_x9".repeat(7).slice(0, 43)}`;
const plainKey = "s3cret-of-another-form";

it.each([
  [key, `https://api.example.com/${key}`],
  [key, `https://api.example.com/v1/${key}/x`],
  [key, `https://${key}.example.com`],
  [key, `https://api.example.com/${key.replaceAll("_", "%5F")}`],
  [key, `https://api.example.com?key=${key}`],
  [key, key],
  [plainKey, plainKey],
  [plainKey, `https://api.example.com/${plainKey}`],
])("the key %s in %s is refused before a request, and printed and kept nowhere", async (apiKey, baseUrl) => {
  const home = await temporaryHome();
  const ecm = ecmWith({ ...home, ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey });
  const outputs = [];
  const login = `auth login --base-url ${baseUrl} --api-key-stdin --no-verify`;
  for (const line of ["contact search --json", "contact get a@x.org -v", "doctor", "auth status", login]) {
    const { code, stdout, stderr } = await ecm(line, { stdin: apiKey });
    expect(code, line).not.toBe(0);
    outputs.push(stdout, stderr);
  }
  for (const [, bytes] of await readHome(home)) outputs.push(bytes);
  for (const output of outputs) {
    expect(output.toLowerCase()).not.toContain(apiKey.toLowerCase());
    expect(output).not.toContain(apiKey.replaceAll("_", "%5F"));
  }
  expect(outputs[1]).toContain("contains an API key");
});
