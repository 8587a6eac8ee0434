import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { chooseFolders } from "../../src/config/folders.ts";
import { toCompiledFolder } from "../../src/disk/compiled-code.ts";
import { walkOwnFiles } from "../../src/privacy/erase.ts";

const root = mkdtempSync(join(tmpdir(), "ecm-places-"));
afterEach(() => rmSync(root, { recursive: true, force: true }));

it("looks for a person in what commands keep, and not in compiled code, which has their examples", async () => {
  const env = { ECM_STATE_DIR: join(root, "state"), ECM_CACHE_DIR: join(root, "cache") };
  const folders = chooseFolders(env, process.platform);
  const kept = join(folders.cache, "names", "account.json");
  for (const file of [kept, join(toCompiledFolder(folders), "v24", "contact.cache")]) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "ada@example.com");
  }
  const found: string[] = [];
  for await (const file of walkOwnFiles(folders, { withRuns: false })) found.push(file);
  expect(found).toEqual([kept]);
});
