/** The scripts of docs/recipes.md as they stand there, and a machine to run them on. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect } from "vitest";
import { ecmWith, type Result, spawnEcm, temporaryFolder, waitForResult } from "../support/ecm.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Every script of a page by the name in its first comment. */
export async function readRecipes(path = "docs/recipes.md"): Promise<Map<string, string>> {
  const page = await readFile(join(root, path), "utf8");
  const scripts = [...page.matchAll(/```bash\n([\s\S]*?)```/g)].map(([, script]) => script!);
  return new Map(scripts.map((script) => [/^# ([\w-]+): /m.exec(script)?.[1] ?? "", script]));
}

/** Of what a page asks for, what this machine does not have. */
export function missingTools(tools = ["bash", "flock", "jq"]): string[] {
  return tools.filter((tool) => spawnSync(tool, ["--version"]).error !== undefined);
}

export interface Machine {
  folder: string;
  /** The folder of the embedded service's data. */
  service: string;
  env: Record<string, string>;
  /** `ecm` in this process, in that environment. */
  ecm(...args: string[]): Promise<Result>;
  /** The same with something on standard input. */
  pipe(stdin: string, ...args: string[]): Promise<Result>;
  /** Writes the script into a file, as it stands in the page, and runs it to its end. */
  script(name: string, env?: Record<string, string>, args?: string[]): Promise<Result>;
  /** The same without waiting, in a process group of its own. */
  startScript(name: string, env?: Record<string, string>, args?: string[]): Promise<ChildProcess>;
  /** Writes a file and returns its path. */
  file(name: string, text: string, mode?: number): Promise<string>;
  /** Starts the service anew on its data and port. @param flags of `sandbox start` */
  restart(...flags: string[]): Promise<void>;
}

/**
 * A home of its own, `ecm` on the path, and the embedded service behind a port.
 * @param flags of `sandbox start`
 */
export async function machine(...flags: string[]): Promise<Machine> {
  const folder = await temporaryFolder();
  const service = join(folder, "service");
  const home = {
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    HOME: folder,
    ECM_CONFIG_DIR: join(folder, "config"),
    ECM_STATE_DIR: join(folder, "state"),
    ECM_CACHE_DIR: join(folder, "cache"),
  };
  const start = (more: string[]) => spawnEcm(["sandbox", "start", "--data", service, ...more], home);
  let server = start(flags);
  const { baseUrl, apiKey } = await readGreeting(server);
  const env: Record<string, string> = { ...home, ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey };
  const recipes = new Map([...(await readRecipes()), ...(await readRecipes("docs/databases.md"))]);
  const ecm = ecmWith(env);

  const file = async (name: string, text: string, mode?: number) => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode });
    return path;
  };
  const startScript: Machine["startScript"] = async (name, more, args = []) =>
    spawn("bash", [await file(name, recipes.get(name)!), ...args], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
  await file("bin/ecm", `#!/bin/sh\nexec "${process.execPath}" "${join(root, "bin/ecm.js")}" "$@"\n`, 0o755);
  return {
    folder,
    service,
    env,
    file,
    startScript,
    ecm: (...args) => ecm(args),
    pipe: (stdin, ...args) => ecm(args, { stdin }),
    script: async (name, more, args) => waitForResult(await startScript(name, more, args)),
    async restart(...more) {
      const ended = once(server, "close");
      server.kill("SIGTERM");
      await ended;
      server = start(["--port", new URL(baseUrl).port, ...more]);
      await readGreeting(server);
    },
  };
}

/** What `sandbox start` says when it accepts requests. */
function readGreeting(child: ChildProcess): Promise<{ baseUrl: string; apiKey: string }> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout!.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve(JSON.parse(text));
    });
    child.once("close", () => reject(new Error(`the service did not start: ${text}`)));
  });
}

/** What a script of the page comes to that has nothing to say. */
export const silent = { code: 0, stdout: "", stderr: "" };

/** Tests of one script. @param further tools that it asks for */
export const recipe = (name: string, tests: () => void, further: string[] = []): void => {
  const missing = [...missingTools(), ...missingTools(further)];
  const openly = missing.length > 0 ? ` (not tested: there is no ${missing.join(", ")} here)` : "";
  describe.skipIf(missing.length > 0)(`${name}${openly}`, tests);
};

export const wrongKey = `ecm_us_${"x".repeat(43)}`;

/** A file of contacts, p0@example.com and so on. */
export const contacts = (count: number, from = 0) =>
  `Email\n${Array.from({ length: count }, (_, index) => `p${from + index}@example.com\n`).join("")}`;

/** None where there is no such list yet. */
export async function countMembers(ecm: Machine["ecm"], list: string): Promise<number> {
  const { stdout } = await ecm("lists", "list", "--json");
  return JSON.parse(stdout).find((each: { name: string }) => each.name === list)?.totalContacts ?? 0;
}

/** Spends one. */
export async function requestsLeft(ecm: Machine["ecm"]): Promise<number> {
  return JSON.parse((await ecm("limits", "--refresh", "--json")).stdout).hour.remaining;
}

/** The newest first. */
export async function runs(ecm: Machine["ecm"]) {
  return JSON.parse((await ecm("runs", "list", "--json")).stdout);
}

/** A profile whose key is named `crm-first`, and the script's environment. */
export async function rotating() {
  const made = await machine();
  const { ecm, pipe, env, service, file, folder } = made;
  delete env.ECM_API_KEY;
  const owner = async (...args: string[]) =>
    (await ecm("sandbox", "keys", ...args, "--data", service, "--json")).stdout;
  const create = async (name: string) =>
    JSON.parse(await owner("create", name, "--scope", "contacts:write")).key as string;
  const login = (key: string, ...more: string[]) =>
    pipe(key, "auth", "login", "--profile", "crm", "--api-key-stdin", ...more);
  const note = (name: string, text: string) => file(`.local/state/key-rotation/${name}`, text);
  const remember = async () => (await readdir(join(folder, ".local/state/key-rotation"))).sort();
  const names = async () =>
    JSON.parse(await owner("list"))
      .map((each: { name: string }) => each.name)
      .filter((name: string) => name.startsWith("crm-"));
  const works = async () => (await ecm("auth", "status", "--profile", "crm")).code === 0;

  expect((await login(await create("crm-first"), "--structure", "Default")).code).toBe(0);
  await note("current", "crm-first\n");
  const rotate = { ROTATE_PROFILE: "crm", ROTATE_OWNER: service };
  return { ...made, owner, create, login, note, remember, names, works, rotate };
}
