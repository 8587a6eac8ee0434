/** `ecm sandbox …`: the embedded service behind a port, and commands for its owner and for tests. */
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerSandboxAccount } from "./account.ts";
import { registerSandboxClock } from "./clock.ts";
import { registerSandboxClone } from "./clone.ts";
import { registerSandboxExec } from "./exec.ts";
import { registerSandboxKeys } from "./keys.ts";
import { registerSandboxRequests } from "./requests.ts";
import { registerSandboxReset } from "./reset.ts";
import { registerSandboxSeed } from "./seed.ts";
import { registerSandboxSnapshot } from "./snapshot.ts";
import { registerSandboxStart } from "./start.ts";
import { registerSandboxVariants } from "./variants.ts";

export function register(sandbox: Command, context: Context): void {
  registerSandboxStart(sandbox, context);
  registerSandboxExec(sandbox, context);
  registerSandboxVariants(sandbox, context);
  registerSandboxKeys(sandbox, context);
  registerSandboxAccount(sandbox, context);
  registerSandboxRequests(sandbox, context);
  registerSandboxSeed(sandbox, context);
  registerSandboxSnapshot(sandbox, context);
  registerSandboxClock(sandbox, context);
  registerSandboxReset(sandbox, context);
  registerSandboxClone(sandbox, context);
}
