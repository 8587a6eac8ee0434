/**
 * Packs the project as it would be published, installs the tarball into an empty folder, and does the main job there:
 * an import into the embedded service, then a search. `node scripts/smoke.mjs [NODE…]`: with other Node programs too.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ecm-smoke-"));
try {
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: root,
    encoding: "utf8",
  });
  const tarball = join(folder, packed.trim().split("\n").at(-1));
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  execFileSync("npm", ["install", "--silent", "--ignore-scripts", tarball], {
    cwd: folder,
    stdio: "inherit",
  });

  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const nodes = [process.execPath, ...process.argv.slice(2).map((each) => resolve(each))];
  for (const [index, node] of nodes.entries()) {
    const home = join(folder, `home-${index}`);
    const ecm = (...args) =>
      execFileSync(node, [join(folder, "node_modules/ecm/bin/ecm.js"), ...args], {
        cwd: folder,
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: home },
        stdio: ["ignore", "pipe", "pipe"],
      });
    assert.equal(ecm("--version"), `${version}\n`);
    assert.match(ecm("--help"), /ecm/);
    writeFileSync(
      join(folder, "people.csv"),
      "Email,First Name,Last Name\nada@example.com,Ada,Lovelace\nhana@example.com,花,山田\n",
    );
    const summary = JSON.parse(ecm("--profile", "sandbox", "import", "people.csv", "--json"));
    assert.equal(summary.rows.created, 2);
    const found = JSON.parse(
      ecm("--profile", "sandbox", "contact", "search", "--key", "hana@example.com", "--json"),
    );
    assert.equal(found.length, 1);
    const nodeVersion = execFileSync(node, ["--version"], { encoding: "utf8" }).trim();
    console.log(`packed tarball works on Node ${nodeVersion}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
