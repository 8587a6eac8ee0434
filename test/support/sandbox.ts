/** The embedded service behind a real port, on a folder of its own. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/index.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import { type Ecm, ecmWith, temporaryFolder, temporaryHome } from "./ecm.ts";

export interface RunningSandbox {
  sandbox: Sandbox;
  baseUrl: string;
  apiKey: string;
  folder: string;
  /** Before the end of the test. */
  stop(): Promise<void>;
  /** An environment that points `ecm` at this service, with an empty home of its own. */
  env: Record<string, string>;
  /** `ecm` in this process, in that environment. */
  ecm: Ecm;
}

/**
 * Starts one on a free port; it is closed and removed when the test ends.
 * @param contents what it holds already
 */
export async function startSandbox({
  contents,
  port = 0,
  ...options
}: Partial<SandboxOptions> & { contents?: SeedData; port?: number } = {}): Promise<RunningSandbox> {
  const folder = options.folder ?? join(await temporaryFolder(), "sandbox");
  const sandbox = await openSandbox({ ...options, folder });
  if (contents) sandbox.admin.seed(contents);
  const server = await sandbox.serve({ host: "127.0.0.1", port });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= server.close().then(() => sandbox.close());
    return stopped;
  };
  onTestFinished(stop);
  const apiKey = sandbox.ownKey();
  const env = { ...(await temporaryHome()), ECM_BASE_URL: server.baseUrl, ECM_API_KEY: apiKey };
  return { sandbox, baseUrl: server.baseUrl, apiKey, folder, stop, env, ecm: ecmWith(env) };
}
