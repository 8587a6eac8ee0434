/** What the revisions of the protocol promise, and answers. */
import { describe, expect, it } from "vitest";
import { readJson, startSandbox } from "../kit.ts";
import { account, ada, exchangeLines, startMcp } from "../support/mcp.ts";

const modern = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

describe("a revision", () => {
  it("of 2026 needs no session: discover, list and call, each alone", async () => {
    const { env } = await account();
    const ask = (id: number, method: string, given: object = {}) => {
      const params = { ...given, _meta: modern };
      return { jsonrpc: "2.0", id, method, params };
    };
    const answers = await exchangeLines(env, [
      ask(1, "server/discover"),
      ask(2, "tools/list"),
      ask(3, "tools/call", { name: "contact_get", arguments: { contact: ada.Email } }),
    ]);
    const supportedVersions = expect.arrayContaining(["2026-07-28"]);
    expect(answers.get(1)!.result).toMatchObject({ supportedVersions });
    const { tools } = answers.get(2)!.result as { tools: { name: string }[] };
    expect(tools[0]!.name).toBe("account_status");
    expect(answers.get(3)!.result).toMatchObject({ structuredContent: { contact: { key: ada.Email } } });
  });

  it.each(["2024-11-05", "2025-06-18", "2025-11-25"])("of %s is served too", async (protocolVersion) => {
    const { env } = await startSandbox();
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "old", version: "1" } };
    const answers = await exchangeLines(env, [
      { jsonrpc: "2.0", id: 1, method: "initialize", params },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/list" },
      { jsonrpc: "2.0", id: 3, method: "ping" },
    ]);
    expect(answers.get(1)!.result).toMatchObject({ protocolVersion, serverInfo: { name: "ecm" } });
    expect(answers.get(2)!.result).toHaveProperty("tools");
    expect(answers.get(3)!.result).toEqual({});
  });
});

it("speaks of files only where a tool reads some", async () => {
  const { env } = await account();
  const { client } = await startMcp(env);
  expect(client.getInstructions()).toContain("This server only reads. This server reads no files.");
});

it("arguments are those of the commands: type, choices, default and description", async () => {
  const { env, ecm } = await startSandbox();
  const { client } = await startMcp(env, ["--allow-write"]);
  const { tools } = await client.listTools();
  const find = (name: string) => tools.find((tool) => tool.name === name)!.inputSchema.properties!;
  const { flags } = await readJson(ecm, "commands import");
  const { choices, default: usual } = flags.find(({ name }: { name: string }) => name === "--mode");
  expect(find("plan_import").mode).toMatchObject({ enum: choices, default: usual });
  expect(find("events_list").days).toMatchObject({ type: "integer", default: 30 });
  expect(find("plan_change").set).toMatchObject({ type: "object" });
  expect(find("plan_change").add_tags).toMatchObject({ type: "array", description: "by label or id" });
  // What only a shell has is not spoken of.
  expect(JSON.stringify(tools)).not.toMatch(/repeat(?:able|ed)\b|standard input|asks first|--/);
});

it("a run that met the hour is resumed by a tool", async () => {
  const { env, sandbox } = await startSandbox({ hourlyLimit: 30 });
  const { call, refusal } = await startMcp(env, ["--allow-write"]);
  const rows = Array.from({ length: 40 }, (_, index) => ({ Email: `p${index}@example.com` }));
  const { token } = await call("plan_import", { rows });
  const stopped = await refusal("apply_plan", { token });
  expect(stopped).toMatchObject({ exitCode: 7, resumableAt: expect.any(String) });
  sandbox.admin.limits({ hourly: 3600 });
  // It is planned first, as every write.
  const left = await call("plan_run", { action: "resume", run: "last" });
  expect(await call("contact_search", { count: true })).not.toEqual({ count: 40 });
  const resumed = await call("apply_plan", { token: left.token });
  expect(resumed.summary).toMatchObject({ status: "completed", rows: { created: 40 } });
});
