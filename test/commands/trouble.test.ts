/** What went wrong says the next step at once; what a person decided is no error. */
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { errorBody, json, startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

/** A service that answers everything so. */
async function refusing(status: number, message: string, headers = {}, path = "") {
  const { baseUrl } = await startHttpServer((_request, response) =>
    json(response, status, errorBody("X", message), headers),
  );
  const env = { ECM_BASE_URL: baseUrl + path, ECM_API_KEY: "k".repeat(50) };
  return ecmWith({ ...(await temporaryHome()), ...env });
}

describe("a refusal says what to do", () => {
  it.each<[status: number, message: string, said: RegExp]>([
    [
      401,
      "Invalid API key",
      /API Keys page that the key is active, or create a new one there, and set ECM_API_KEY/,
    ],
    [
      401,
      "API key has expired",
      /^hint: Create a new key on the account's API Keys page, and set ECM_API_KEY/m,
    ],
    [403, "Account does not have API access", /^hint: The account is suspended, past due or closed/m],
    [403, "The key lacks the scope lists:read", /add that scope to the key on the account's API Keys page/],
    [
      500,
      "Out of order",
      /^error: The service answered 500: Out of order\nhint: The service has a problem: try again/m,
    ],
  ])("%i %s", async (status, message, said) => {
    const ecm = await refusing(status, message);
    expect((await ecm("api GET /api/contact-structure")).stderr).toMatch(said);
  });

  it("a 503 when it will be back, and a write that it may have been applied", async () => {
    const ecm = await refusing(503, "Busy", { "retry-after": "1800" });
    const { stderr } = await ecm("api POST /api/contact --data -", { stdin: "{}" });
    expect(stderr).toMatch(
      /may have been applied\nhint: .*See whether .* try again .*at \d\d:\d\d \(in 30 min\)/,
    );
  });

  it("a path in the base URL", async () => {
    const ecm = await refusing(403, "This endpoint is not accessible via API key", {}, "/api");
    expect((await ecm("lists list")).stderr).toMatch(
      /hint: The base URL has a path, \/api: give the host alone/,
    );
  });

  it("an account that is suspended is not the key's fault", async () => {
    const ecm = await refusing(403, "Account does not have API access");
    const { stdout } = await ecm("doctor --json");
    const findings = JSON.parse(stdout) as { check: string; status: string }[];
    expect(findings.filter(({ status }) => status === "fail").map(({ check }) => check)).toEqual(["account"]);
  });

  it("a scheme that is none, and a port without TLS", async () => {
    const { ecm, baseUrl } = await startSandbox();
    const at = async (url: string) => (await ecm("lists list", { env: { ECM_BASE_URL: url } })).stderr;
    expect(await at("htp://example.com")).toContain(
      'ECM_BASE_URL: "htp" is no scheme of the API: it is https',
    );
    expect(await at(baseUrl.replace("http:", "https:"))).toContain(
      "it does not speak TLS (https) at that port",
    );
  });
});

it("a no, and Ctrl-C, are no errors", async () => {
  const { ecm } = await startSandbox();
  await ecm("lists create Red");
  const answer = (typed: string) =>
    ecm("lists delete Red", {
      terminalColumns: 120,
      typed: [["Delete the list", typed]],
      env: { NO_COLOR: "1" },
    });
  const no = await answer("n\r");
  expect(no.code).toBe(1);
  expect(no.stderr).toContain("Cancelled; nothing changed\n");
  const interrupted = await answer("\u0003");
  expect(interrupted.code).toBe(130);
  expect(interrupted.stderr).toContain("Interrupted\nhint: Nothing was changed\n");
  for (const { stderr } of [no, interrupted]) expect(stderr).not.toContain("error:");
});
