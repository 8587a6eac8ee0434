/** The scripts of docs/recipes.md as they stand there, and a machine to run them on. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ecmWith, type Result, resultOf, spawnEcm, temporaryFolder } from "./support/ecm.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

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
  script(name: string, env?: Record<string, string>): Promise<Result>;
  /** The same without waiting, in a process group of its own. */
  startScript(name: string, env?: Record<string, string>): Promise<ChildProcess>;
  /** Writes a file and returns its path. */
  file(name: string, text: string, mode?: number): Promise<string>;
  /** Starts the service anew on its data and port. @param flags of `sandbox start` */
  restart(...flags: string[]): Promise<void>;
}

/** A home of its own, `ecm` on the path, and the embedded service behind a port. @param flags of `sandbox start` */
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
  const { baseUrl, apiKey } = await greetingOf(server);
  const env: Record<string, string> = { ...home, ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey };
  const recipes = new Map([...(await readRecipes()), ...(await readRecipes("docs/databases.md"))]);
  const ecm = ecmWith(env);

  const file = async (name: string, text: string, mode?: number) => {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode });
    return path;
  };
  const startScript: Machine["startScript"] = async (name, more) =>
    spawn("bash", [await file(name, recipes.get(name)!)], {
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
    script: async (name, more) => resultOf(await startScript(name, more)),
    async restart(...more) {
      const ended = once(server, "close");
      server.kill("SIGTERM");
      await ended;
      server = start(["--port", new URL(baseUrl).port, ...more]);
      await greetingOf(server);
    },
  };
}

/** What `sandbox start` says when it accepts requests. */
function greetingOf(child: ChildProcess): Promise<{ baseUrl: string; apiKey: string }> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout!.on("data", (chunk) => {
      text += chunk;
      if (text.includes("\n")) resolve(JSON.parse(text));
    });
    child.once("close", () => reject(new Error(`the service did not start: ${text}`)));
  });
}
