/** The scripts of docs/recipes.md as they stand there, and a machine to run them on. */
import { spawn, spawnSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import type { SandboxOptions } from "../../src/sandbox/index.ts";
import { done, type Ecm, ecmWith, readJson, startSandbox, temporaryFolder, waitForResult } from "../kit.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Every script of a page by the name in its first comment. */
export async function readRecipes(path = "docs/recipes.md"): Promise<Map<string, string>> {
  const page = await readFile(join(root, path), "utf8");
  const scripts = [...page.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, script]) => script!);
  return new Map(scripts.map((script) => [/^# ([\w-]+): /m.exec(script)?.[1] ?? "", script]));
}

/** Of these, what this machine does not have. */
export function missingTools(tools: string[]): string[] {
  return tools.filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
}

export type Machine = Awaited<ReturnType<typeof machine>>;

/** A home of its own, `ecm` on the path, and the embedded service behind a port. */
export async function machine(options: Partial<SandboxOptions> = {}) {
  const folder = await temporaryFolder();
  /** The folder of the embedded service's data. */
  const service = join(folder, "service");
  let running = await startSandbox({ ...options, folder: service });
  const { baseUrl, apiKey } = running;
  const env: Record<string, string> = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    HOME: folder,
    ECM_CONFIG_DIR: join(folder, "config"),
    ECM_STATE_DIR: join(folder, "state"),
    ECM_CACHE_DIR: join(folder, "cache"),
    ECM_BASE_URL: baseUrl,
    ECM_API_KEY: apiKey,
  };
  const recipes = new Map([...(await readRecipes()), ...(await readRecipes("docs/databases.md"))]);

  /** Writes a file and returns its path. */
  async function file(name: string, text: string, mode?: number): Promise<string> {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode });
    return path;
  }
  /** Starts the script, as it stands in the page, in a process group of its own. */
  async function startScript(name: string, more?: Record<string, string>, args: string[] = []) {
    return spawn("bash", [await file(name, recipes.get(name)!), ...args], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
  }
  await file("bin/ecm", `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin/ecm.js")}" "$@"\n`, 0o755);
  return {
    ...{ folder, service, env, file, startScript },
    ecm: ecmWith(env),
    /** What a test does to the service beside using it. */
    admin: () => running.sandbox.admin,
    /** Runs the script to its end. */
    script: async (...script: Parameters<typeof startScript>) => waitForResult(await startScript(...script)),
    /** Starts the service anew on its data and port. */
    async restart(more: Partial<SandboxOptions> = {}) {
      await running.stop();
      running = await startSandbox({ ...more, folder: service, port: Number(new URL(baseUrl).port) });
    },
  };
}

/** What a script of the page comes to that says this on stderr. */
export const says = (what: string | RegExp, code = 0) => ({
  ...{ code, stdout: "" },
  stderr: typeof what === "string" ? what : expect.stringMatching(what),
});

export const silent = says("");

/** Tests of one script. @param further tools that it asks for: without them nothing is tried */
export const recipe = (name: string, tests: () => void, further: string[] = []): void => {
  const missing = missingTools(["bash", "flock", "jq", ...further]);
  const openly = missing.length > 0 ? ` (not tested: there is no ${missing.join(", ")} here)` : "";
  describe.skipIf(missing.length > 0)(`${name}${openly}`, tests);
};

export const wrongKey = `ecm_us_${"x".repeat(43)}`;

/** A file of contacts, p0@example.com and so on. */
export const contacts = (count: number, from = 0) =>
  `Email\n${Array.from({ length: count }, (_, index) => `p${from + index}@example.com\n`).join("")}`;

/** The same people as contacts that a service holds. */
export const people = (count: number, ...lists: string[]) =>
  Array.from({ length: count }, (_, index) => ({ key: `p${index}@example.com`, lists }));

/** None where there is no such list yet. */
export async function countMembers(ecm: Ecm, list: string): Promise<number> {
  const found = (await readJson(ecm, "lists list")).find((each: { name: string }) => each.name === list);
  return found?.totalContacts ?? 0;
}

/** Spends one. */
export const requestsLeft = async (ecm: Ecm): Promise<number> =>
  (await readJson(ecm, "limits --refresh")).hour.remaining;

/** The newest first. */
export const runs = (ecm: Ecm) => readJson(ecm, "runs list");

/** A profile whose key is named `crm-first`, and the script's environment. */
export async function rotating() {
  const made = await machine();
  const { ecm, env, service, file, folder } = made;
  delete env.ECM_API_KEY;
  const { keys } = made.admin();
  const create = (name: string) => keys.create({ name, scopes: ["contacts:write"] }).key;
  const login = (key: string) =>
    done(ecm("auth login --profile crm --structure Default --api-key-stdin", { stdin: key }));
  const note = (name: string, text: string) => file(`.local/state/key-rotation/${name}`, text);
  const remember = async () => (await readdir(join(folder, ".local/state/key-rotation"))).sort();
  const names = () =>
    keys
      .list()
      .map(({ name }) => name)
      .filter((name) => name.startsWith("crm-"));
  const works = async () => (await ecm("auth status --profile crm")).code === 0;

  await login(create("crm-first"));
  await note("current", "crm-first\n");
  const rotate = { ROTATE_PROFILE: "crm", ROTATE_OWNER: service };
  return { ...made, keys, create, login, note, remember, names, works, rotate };
}
