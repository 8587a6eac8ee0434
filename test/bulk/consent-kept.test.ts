/** Why somebody was admitted: kept with the contact that a run creates, shown, and erased with the person. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PlanLine } from "../../src/bulk/plan/plan-line.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { contactLines, inputFile } from "./kit.ts";

const text = [
  "Email,First Name,Newsletter consent",
  "ada@example.com,Ada,yes",
  "bob@example.com,Bob,no",
  "eve@example.com,Eve,Ja ",
  "",
].join("\n");
const input = `sha256:${createHash("sha256").update(text).digest("hex")}`;

async function imported(more: string[] = []): Promise<RunningSandbox> {
  const service = await startSandbox();
  const result = await service.ecm(["import", await inputFile(text), ...more]);
  expect(result.code, result.stderr).toBe(0);
  return service;
}

async function changesIn({ ecm }: RunningSandbox): Promise<PlanLine[]> {
  const shown = await ecm(["runs", "show", "last", "--changes"]);
  expect(shown.code, shown.stderr).toBe(0);
  return contactLines(shown.stdout);
}

it("a created contact keeps the column and the word that were read", { tags: "slow" }, async () => {
  const service = await imported();
  const column = "Newsletter consent";
  expect((await changesIn(service)).map(({ key, consent }) => [key, consent])).toEqual([
    ["ada@example.com", { columns: [{ column, said: "yes" }], input, line: 2 }],
    ["eve@example.com", { columns: [{ column, said: "Ja" }], input, line: 4 }],
  ]);
  const asked = await service.ecm(["contact", "consent", "ADA@example.com", "--json"]);
  expect(JSON.parse(asked.stdout)).toMatchObject([
    { key: "ada@example.com", kind: "import", consent: { columns: [{ column, said: "yes" }], line: 2 } },
  ]);
  const table = await service.ecm(["contact", "consent", "eve@example.com", "-o", "table"]);
  expect(table.stdout).toContain("Newsletter consent: Ja");
  expect(table.stderr).not.toContain("rate-limit");
  expect((await service.ecm(["contact", "consent", "bob@example.com"])).code).toBe(5);
});

it("the flag that overrode the file is kept", { tags: "slow" }, async () => {
  const included = await imported(["--include-unsubscribed"]);
  const overrides = (await changesIn(included)).map(({ key, consent }) => [key, consent?.overriddenBy]);
  expect(overrides).toEqual([
    ["ada@example.com", undefined],
    ["bob@example.com", ["--include-unsubscribed"]],
    ["eve@example.com", undefined],
  ]);
  const ignored = await imported(["--map", "Newsletter consent=ignore"]);
  expect((await changesIn(ignored))[1]).toMatchObject({
    key: "bob@example.com",
    consent: { columns: [], overriddenBy: ["--map 'Newsletter consent=ignore'"] },
  });
});

it("a file without a consent column is known to have had none", { tags: "slow" }, async () => {
  const service = await startSandbox();
  await service.ecm(["import", await inputFile("Email\nada@example.com\n")]);
  expect((await changesIn(service))[0]!.consent).toMatchObject({ columns: [], line: 2 });
  const asked = await service.ecm(["contact", "consent", "ada@example.com", "-o", "table"]);
  expect(asked.stdout).toContain("no consent column");
});

it("a mark on another row of the contact is an override too", async () => {
  const service = await startSandbox();
  const file = await inputFile("Email,Opt-out\nada@example.com,\nada@example.com,yes\n");
  await service.ecm(["import", file, "--include-unsubscribed"]);
  expect((await changesIn(service))[0]!.consent?.overriddenBy).toEqual(["--include-unsubscribed"]);
});

it("an applied plan keeps it, and a redacted one does not show it", {
  tags: "slow",
}, async () => {
  const service = await startSandbox();
  const plan = join(await temporaryFolder(), "plan.ndjson");
  await service.ecm(["import", await inputFile(text), "--dry-run", "--plan", plan]);
  expect(await readFile(plan, "utf8")).toContain('"said":"yes"');
  const redacted = await service.ecm(["plan", "show", plan, "--redact", "-o", "json"]);
  expect(redacted.stdout).not.toContain("said");
  const applied = await service.ecm(["apply", plan, "--yes"]);
  expect(applied.code, applied.stderr).toBe(0);
  expect((await changesIn(service))[0]!.consent).toMatchObject({ columns: [{ said: "yes" }], input });
});

it("it is erased with the person", { tags: "slow" }, async () => {
  const service = await imported();
  const erased = await service.ecm(["contact", "erase", "ada@example.com", "--yes"]);
  expect(erased.code, erased.stderr).toBe(0);
  expect((await service.ecm(["contact", "consent", "ada@example.com"])).code).toBe(5);
  expect((await changesIn(service)).find(({ consent }) => consent?.line === 2)).toBeUndefined();
  expect((await service.ecm(["contact", "consent", "eve@example.com"])).code).toBe(0);
});
