/** docs/sandbox.md and examples/Dockerfile, held against the program. */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { ecmWith, startSandbox, temporaryFolder, temporaryHome } from "../kit.ts";
import { openAccount } from "./account.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8");
const dockerfile = readFileSync(new URL("../../examples/Dockerfile", import.meta.url), "utf8");

const blocksOf = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block]) => block!);

test("the requests that docs/sandbox.md shows with curl are answered", async () => {
  const { call } = await openAccount();
  const lines = blocksOf("sh").flatMap((block) => block.trim().split("\n"));
  const [address, ...requests] = lines;
  expect(address).toBe("S=http://127.0.0.1:8080/__sandbox");
  for (const line of requests) {
    // What streams never ends.
    if (line === "curl -sN $S/requests/stream") continue;
    expect(line).toMatch(/^curl -s /);
    const [, method = "GET"] = /-X (\w+)/.exec(line) ?? [];
    const [, path] = /\$S(\/[^\s"]*)/.exec(line) ?? [];
    const [, raw] = /-d '(.*)'/.exec(line) ?? [];
    const answer = await call(method, `/__sandbox${path}`, undefined, { key: null, raw });
    expect(answer.status, line).toBeLessThan(300);
  }
});

/** The reader's own program: once more where the connection broke, later where the hour is used up. */
const subscribe = `export async function subscribe(key: string, { baseUrl, apiKey, structureId }: { baseUrl: string; apiKey: string; structureId: string }) {
  const create = () =>
    fetch(\`\${baseUrl}/api/contact\`, {
      method: "POST",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({ contactStructureId: structureId, key }),
    });
  const answer = await create().catch(create);
  return answer.status === 429 ? "later" : answer.status;
}
`;

const client = `import type { components, paths } from "./service.js";
type Body = paths["/api/contact"]["post"]["requestBody"]["content"]["application/json"];
export const body: Body = { key: "ada@example.com", contactStructureId: "x" };
export const keyOf = (contact: components["schemas"]["Contact"]): string => contact.key;
// @ts-expect-error: a contact needs a structure
export const incomplete: Body = { key: "ada@example.com" };
// @ts-expect-error: there is no such path
export type None = paths["/api/contacts"];
`;

// The generator is built on a TypeScript of its own, so it is no dependency of the project.
const generator = ["--yes", "openapi-typescript@7"];

test("its examples in TypeScript and its generated client have the right types, and the examples pass", async ({
  skip,
}) => {
  const folder = await temporaryFolder();
  const modules = join(folder, "node_modules");
  await mkdir(modules);
  await symlink(root, join(modules, "ecm-cli"));
  await symlink(join(root, "node_modules/vitest"), join(modules, "vitest"));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "subscribe.ts"), subscribe);
  const names = blocksOf("ts").map((_, index) => `example${index}.test.ts`);
  expect(names).toHaveLength(2);
  for (const [index, block] of blocksOf("ts").entries()) await writeFile(join(folder, names[index]!), block);

  expect(page).toContain("`npx openapi-typescript ADDRESS/openapi.json -o service.d.ts`");
  const { baseUrl } = await startSandbox();
  const words = [...generator, `${baseUrl}/openapi.json`, "-o", "service.d.ts"];
  const failure = await run("npx", words, { cwd: folder, timeout: 120_000 }).then(() => "", String);
  expect(failure).toMatch(/^$|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|network|ENOENT/);
  if (failure === "") await writeFile(join(folder, "client.ts"), client);
  await checkTypes(folder, failure === "" ? [...names, "client.ts"] : names);
  await run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder]);
  if (failure !== "") skip("the generated client is not tested: there is no package registry here");
});

async function checkTypes(folder: string, files: string[]) {
  const compilerOptions = {
    ...{ noEmit: true, strict: true, target: "esnext", module: "nodenext", skipLibCheck: true },
    ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, "--singleThreaded", "-p", folder]);
}

test("its examples for pytest pass", async ({ skip }) => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "bin"));
  const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin/ecm.js")}" "$@"\n`;
  await writeFile(join(folder, "bin/ecm"), program, { mode: 0o755 });
  await writeFile(join(folder, "test_page.py"), blocksOf("python").join("\n"));
  const PATH = `${join(folder, "bin")}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, ...(await temporaryHome()), PATH };
  const words = ["-m", "pytest", "-q", folder];
  const { error, stdout, stderr } = spawnSync("python3", words, { cwd: folder, env, encoding: "utf8" });
  if (error || stderr.includes("No module named pytest")) skip("there is no pytest here");
  expect(stdout, stderr).toContain("2 passed");
});

test("its file for compose, and the Dockerfile, name flags that exist", async () => {
  const { services } = parse(blocksOf("yaml")[0]!) as { services: { sandbox: { command: string[] } } };
  const entrypoint: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!);
  expect(entrypoint.slice(0, 3)).toEqual(["ecm", "sandbox", "start"]);
  const help = (await ecmWith(await temporaryHome())(["sandbox", "start", "--help"])).stdout;
  for (const command of [services.sandbox.command, entrypoint]) {
    const flags = command.filter((word) => word.startsWith("--"));
    expect(flags.length).toBeGreaterThan(0);
    for (const flag of flags) expect(help).toContain(flag);
  }
});

test("the Dockerfile starts the sandbox not as root, and looks after its health", () => {
  const lastUser = [...dockerfile.matchAll(/^USER (.*)$/gm)].at(-1)?.[1];
  expect(lastUser).toBe("node");
  expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  expect(dockerfile).toMatch(/^EXPOSE 8080$/m);
});

test("the reads that its table names are answered", async () => {
  const { admin } = await openAccount();
  const reads = [...page.matchAll(/`GET ([a-z]+)(?:\?[^`]*)?`/g)].map(([, path]) => path!);
  expect(new Set(reads)).toEqual(new Set(["health", "requests", "snapshots", "clock", "faults", "limits"]));
  for (const path of reads) {
    expect((await admin("GET", path)).status, path).toBe(200);
  }
});
