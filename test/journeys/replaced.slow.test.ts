import { on } from "node:events";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { spawnEcm, startSandbox, temporaryFolder, waitForResult } from "../kit.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

it("a long run ends in good order although the installed program was replaced meanwhile", async () => {
  const { env } = await startSandbox({ hourlyLimit: 20 });
  const installed = await temporaryFolder();
  for (const part of ["bin", "dist"]) await cp(join(root, part), join(installed, part), { recursive: true });
  // What an earlier build has left there is no part of this program.
  await writeFile(join(installed, "dist", "old-00000000.cjs"), 'throw new Error("of an earlier build");');
  await mkdir(join(installed, "node_modules"));
  await writeFile(join(installed, "package.json"), "{}");
  const file = join(installed, "people.csv");
  const rows = Array.from({ length: 60 }, (_, number) => `p${number}@example.com\n`);
  await writeFile(file, `Email\nnobody\n${rows.join("")}`);

  const child = spawnEcm(["import", file, "--wait", "--json"], env, join(installed, "bin/ecm.js"));
  const result = waitForResult(child);
  // The price is told when all of the program is loaded; the hour is used up after the first writes.
  for await (const [text] of on(child.stderr!, "data")) if (/request/.test(String(text))) break;
  await rm(join(installed, "dist"), { recursive: true });
  child.kill("SIGTERM");

  const { code, stdout, stderr } = await result;
  expect(stderr).not.toMatch(/cannot find module|internal error/i);
  expect(code, stderr).toBe(143);
  expect(JSON.parse(stdout)).toMatchObject({ status: "stopped", stoppedBy: "signal", rows: { rejected: 1 } });
});
