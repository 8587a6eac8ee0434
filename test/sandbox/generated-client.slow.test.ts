/**
 * A client that is generated from /openapi.json type-checks, and works.
 * Needs the package registry; skipped without it.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { startSandbox } from "../../src/sandbox/start-sandbox.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ecm-client-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// The generator is built on a TypeScript of its own, so it is no dependency of the project.
const packages = ["openapi-typescript@7", "openapi-fetch@0", "typescript@5"];
writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=0", ...packages];
const isInstalled = spawnSync("npm", install, { cwd: folder, timeout: 120_000 }).status === 0;
const title = isInstalled
  ? "a generated client"
  : `a generated client (skipped: ${packages.join(", ")} could not be installed)`;

const client = `
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./service.js";

type Contact = components["schemas"]["Contact"];
type Structure = components["schemas"]["ContactStructure"];
export type Lists = operations["listStructures"]["responses"][200]["content"]["application/json"];

const [, , baseUrl = "", apiKey = ""] = process.argv;
const service = createClient<paths>({ baseUrl, headers: { "X-API-Key": apiKey } });

const structures = await service.GET("/api/contact-structure");
const structure: Structure = structures.data![0]!;
const created = await service.POST("/api/contact", {
  body: { key: "ada@example.com", contactStructureId: structure._id },
});
const contact: Contact = created.data!;
const again = await service.POST("/api/contact", {
  body: { key: "ada@example.com", contactStructureId: structure._id },
});
const problem: string = again.error!.errors[0]!.errorType;
const one = await service.GET("/api/contact/{contactId}", { params: { path: { contactId: contact._id } } });
const path = { contactStructureId: structure._id };
const listed = await service.GET("/api/contact-structure/{contactStructureId}/lists", {
  params: { path, query: { page: 1, size: 10 } },
});
if (listed.response.status !== 200) throw new Error("no lists");
// @ts-expect-error: a contact needs a structure
service.POST("/api/contact", { body: { key: "ada@example.com" } }).catch(() => {});
// @ts-expect-error: there is no such path
service.GET("/api/contacts").catch(() => {});
console.log(JSON.stringify([structure.label, one.data!.key, problem]));
`;

describe.skipIf(!isInstalled)(title, () => {
  test("is generated, type-checks, and talks to the sandbox", async () => {
    const sandbox = await startSandbox();
    onTestFinished(() => sandbox.stop());
    const run = (program: string, ...words: string[]) =>
      execFileSync(process.execPath, [join(root, program), ...words], { cwd: folder, encoding: "utf8" });
    writeFileSync(
      join(folder, "openapi.json"),
      await (await fetch(`${sandbox.baseUrl}/openapi.json`)).text(),
    );
    const generator = join(folder, "node_modules/openapi-typescript/bin/cli.js");
    execFileSync(process.execPath, [generator, "openapi.json", "-o", "service.d.ts"], { cwd: folder });
    writeFileSync(join(folder, "client.ts"), client);
    const strict = ["--strict", "--target", "es2023", "--lib", "es2023,dom", "--module", "nodenext"];
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules/@types"), "--outDir", "built"];
    run("node_modules/typescript/bin/tsc", ...strict, ...types, "client.ts");
    // Not waited for in place: the sandbox that answers it is in this process.
    const words = ["built/client.js", sandbox.baseUrl, sandbox.apiKey];
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder, timeout: 60_000 });
    expect(JSON.parse(stdout)).toEqual(["Default", "ada@example.com", "DuplicateFieldError"]);
  });
});
