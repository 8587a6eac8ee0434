/** Where `ecm` stores its files: the platform's own folders unless the environment names others. */
import { resolve } from "node:path";
import envPaths from "env-paths";
import type { Environment } from "./settings.ts";

export interface Folders {
  /** Profiles and keys. */
  config: string;
  /** Bulk runs and the embedded service: what must survive. */
  state: string;
  /** What can be lost without harm: names for completions, last seen limits, compiled code. */
  cache: string;
}

export function chooseFolders(env: Environment, platform: string): Folders {
  const own = envPaths("ecm", { suffix: "" });
  // On Linux `log` is the state folder of the XDG specification; elsewhere data is the place for state.
  const state = platform === "linux" ? own.log : own.data;
  return {
    config: toAbsolutePath(env.ECM_CONFIG_DIR) ?? own.config,
    state: toAbsolutePath(env.ECM_STATE_DIR) ?? state,
    cache: toAbsolutePath(env.ECM_CACHE_DIR) ?? own.cache,
  };
}

function toAbsolutePath(variable: string | undefined): string | undefined {
  return variable ? resolve(variable) : undefined;
}
