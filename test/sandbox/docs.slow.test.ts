/** docs/sandbox.md and examples/Dockerfile, held against the program. */
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
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

test("its examples in TypeScript have the right types, and pass", async () => {
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
  const compilerOptions = {
    ...{ noEmit: true, strict: true, target: "esnext", module: "nodenext", skipLibCheck: true },
    ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: names }));
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder]);
  await run(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder]);
});

const hasPytest = spawnSync("python3", ["-m", "pytest", "--version"]).status === 0;

test.skipIf(!hasPytest)(
  `its examples for pytest pass${hasPytest ? "" : " (not tested: there is no pytest here)"}`,
  async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "bin"));
    const program = `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin/ecm.js")}" "$@"\n`;
    await writeFile(join(folder, "bin/ecm"), program, { mode: 0o755 });
    await writeFile(join(folder, "test_page.py"), blocksOf("python").join("\n"));
    const PATH = `${join(folder, "bin")}${delimiter}${process.env.PATH}`;
    const env = { ...process.env, ...(await temporaryHome()), PATH };
    const { stdout } = await run("python3", ["-m", "pytest", "-q", folder], { cwd: folder, env });
    expect(stdout).toContain("2 passed");
  },
);

test("its file for compose names flags that exist", async () => {
  const [block] = blocksOf("yaml");
  const { services } = parse(block!) as { services: { sandbox: { command: string[] } } };
  const help = (await ecmWith(await temporaryHome())(["sandbox", "start", "--help"])).stdout;
  const flags = services.sandbox.command.filter((word) => word.startsWith("--"));
  expect(flags.length).toBeGreaterThan(0);
  for (const flag of flags) expect(help).toContain(flag);
});

test("the reads that its table names are answered", async () => {
  const { admin } = await openAccount();
  const reads = [...page.matchAll(/`GET ([a-z]+)(?:\?[^`]*)?`/g)].map(([, path]) => path!);
  expect(new Set(reads)).toEqual(new Set(["health", "requests", "snapshots", "clock", "faults", "limits"]));
  for (const path of reads) {
    expect((await admin("GET", path)).status, path).toBe(200);
  }
});

test("the Dockerfile starts the sandbox with flags that exist, not as root, and looks after its health", async () => {
  const entrypoint: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!);
  expect(entrypoint.slice(0, 3)).toEqual(["ecm", "sandbox", "start"]);
  const { stdout } = await ecmWith(await temporaryHome())(["commands", "sandbox", "start", "--json"]);
  for (const flag of entrypoint.filter((word) => word.startsWith("--")))
    expect(stdout).toContain(`"${flag}"`);
  const lastUser = [...dockerfile.matchAll(/^USER (.*)$/gm)].at(-1)?.[1];
  expect(lastUser).toBe("node");
  expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  expect(dockerfile).toMatch(/^EXPOSE 8080$/m);
});
