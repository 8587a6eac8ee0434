/** `ecm sandbox …`: the embedded service behind a port, and what its account's owner does. */
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerSandboxAccount } from "./account.ts";
import { registerSandboxClone } from "./clone.ts";
import { registerSandboxExec } from "./exec.ts";
import { registerSandboxKeys } from "./keys.ts";
import { registerSandboxReset } from "./reset.ts";
import { registerSandboxStart } from "./start.ts";

export function registerSandbox(sandbox: Command, context: Context): void {
  registerSandboxStart(sandbox, context);
  registerSandboxExec(sandbox, context);
  registerSandboxKeys(sandbox, context);
  registerSandboxAccount(sandbox, context);
  registerSandboxReset(sandbox, context);
  registerSandboxClone(sandbox, context);
}
