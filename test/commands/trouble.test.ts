/** What went wrong says the next step at once. */
import { describe, expect, it } from "vitest";
import { ends, errorBody, json, refused, startSandbox, startService } from "../kit.ts";

/** A service that answers everything so. */
const refusing = (status: number, message: string, headers = {}) =>
  startService((_request, response) => json(response, status, errorBody("X", message), headers));

describe("a refusal says what to do", () => {
  it.each<[status: number, message: string, code: number, said: RegExp]>([
    [401, "Invalid API key", 4, /Keys page that the key is active, or create a new one there, and set ECM_/],
    [401, "API key has expired", 4, /^hint: Create a new key on the account's API Keys page, and set ECM_/m],
    [403, "Account does not have API access", 4, /^hint: The account is suspended, past due or closed/m],
    [403, "The key lacks the scope x:read", 4, /add that scope to the key on the account's API Keys page/],
    [500, "No", 1, /^error: The service answered 500: No\nhint: The service has a problem: try again/m],
  ])("%i %s", async (status, message, code, said) => {
    const { ecm } = await refusing(status, message);
    await ends(ecm("api GET /api/contact-structure"), code, said);
  });

  it("a 503 when it will be back, and a write that it may have been applied", async () => {
    const { ecm } = await refusing(503, "Busy", { "retry-after": "1800" });
    const said = /may have been applied\nhint: .*See whether .* try again .*at \d\d:\d\d \(in 30 min\)/;
    await ends(ecm("api POST /api/contact --data -", { stdin: "{}" }), 1, said);
  });

  it("a path in the base URL", async () => {
    const { ecm, server } = await refusing(403, "This endpoint is not accessible via API key");
    const env = { ECM_BASE_URL: `${server.baseUrl}/api` };
    await refused(ecm("lists list", { env }), 4, "hint: The base URL has a path, /api: give the host alone");
  });

  it("an account that is suspended is not the key's fault", async () => {
    const { ecm } = await refusing(403, "Account does not have API access");
    const findings: { check: string; status: string }[] = JSON.parse((await ecm("doctor --json")).stdout);
    expect(findings.filter(({ status }) => status === "fail").map(({ check }) => check)).toEqual(["account"]);
  });

  it("a scheme that is none, and a port without TLS", async () => {
    const { ecm, baseUrl } = await startSandbox();
    const at = async (url: string) => (await ecm("lists list", { env: { ECM_BASE_URL: url } })).stderr;
    expect(await at("htp://example.com")).toContain('URL: "htp" is no scheme of the API: it is https');
    expect(await at(baseUrl.replace("http:", "https:"))).toContain("does not speak TLS (https) at that port");
  });
});
