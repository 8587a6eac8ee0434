/** A plan whose lines were changed on purpose is as whole as before. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createPlanSealer, PlanWriter, readStoredPlan } from "../../src/bulk/plan/plan-file.ts";
import type { StoredLine } from "../../src/bulk/plan/plan-line.ts";
import { temporaryFolder } from "../support/ecm.ts";

it("has the digests of what is left, in its blocks and at its end", async () => {
  const file = join(await temporaryFolder(), "plan.ndjson");
  const head = { version: 1, names: {} } as unknown as Parameters<typeof PlanWriter.create>[1];
  const writer = PlanWriter.create(file, head, []);
  const line = (key: string): StoredLine => {
    return { line: 2, key, contactId: null, action: "skip", code: null, message: null, changes: [] };
  };
  writer.addBlock([line("ä@x.org"), line('"digest":"sha256:')], 1, 2);
  writer.addBlock([line("b@x.org")], 1, 1);
  writer.close({ read: 3, skipped: {}, rejected: {} });
  const text = await readFile(file, "latin1");
  const sealed = (from: string) => {
    const seal = createPlanSealer();
    return from.slice(0, -1).split("\n").map(seal).join("\n").concat("\n");
  };
  expect(sealed(text)).toBe(text);
  const changed = text.replace("b@x.org", "erased");
  await writeFile(file, changed, "latin1");
  await expect(readStoredPlan(file)).rejects.toThrow("is damaged");
  await writeFile(file, sealed(changed), "latin1");
  expect((await readStoredPlan(file))!.end).toBeDefined();
});
