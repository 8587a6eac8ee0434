import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { faultHelp } from "../../sandbox/faults.ts";
import { addStartFlags, type StartFlags, sandboxOptions } from "./flags.ts";

export function registerSandboxStart(parent: Command, context: Context): void {
  addStartFlags(parent.command("start").description("serve the sandbox over HTTP, until SIGINT or SIGTERM"))
    .addHelpText("after", startHelp)
    .action((flags: StartFlags) => runSandboxStart(context, flags));
}

const startHelp = `
When it accepts requests, it prints one line of JSON: {"baseUrl":"…","apiKey":"…","structureId":"…"}

Without --data it shares the data of the profile sandbox. Several sandboxes may use one folder: they see the same
data and spend the same limits.

${faultHelp}

Examples:
  ecm sandbox start --port 8080 --hourly-limit 100 --window 60
  ecm sandbox start --data ./rehearsal --fault truncate:GET:*:p=0.05:seed=1`;

async function runSandboxStart(context: Context, flags: StartFlags): Promise<void> {
  const { openSandbox } = await import("../../sandbox/index.ts");
  const options = sandboxOptions(context, flags);
  const sandbox = await openSandbox(options);
  try {
    const server = await sandbox.serve(options);
    const ready = { baseUrl: server.baseUrl, apiKey: sandbox.ownKey(), structureId: sandbox.structureId };
    await context.terminal.write(`${JSON.stringify(ready)}\n`);
    // To be stopped is this command's natural end, so the signal is not passed on as a failure.
    await fired(context.signal);
    await server.close();
  } finally {
    sandbox.close();
  }
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
