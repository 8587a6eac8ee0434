import { describe, expect, it } from "vitest";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { json, startHttpServer } from "../support/http-server.ts";

describe("the line", () => {
  it("signs a request and reads the answer", async () => {
    const server = await startHttpServer((_request, response) =>
      json(response, 200, { _id: "1", key: "a@b.c" }),
    );
    const key = `ecm_us_${"k".repeat(43)}`;
    const ecm = ecmWith({ ...(await temporaryHome()), ECM_BASE_URL: server.baseUrl, ECM_API_KEY: key });
    const result = await ecm(["contact", "get", "1", "-o", "json"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(result.stdout)).toEqual({ _id: "1", key: "a@b.c" });
    expect(server.seen[0]).toMatchObject({ method: "GET", url: "/api/contact/1" });
    expect(server.seen[0]!.headers["x-api-key"]).toBe(key);
  });
});
