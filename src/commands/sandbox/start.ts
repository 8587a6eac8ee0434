import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { faultHelp } from "../../sandbox/faults.ts";
import { describeCommand } from "../help-text.ts";
import { addStartFlags, type StartFlags, sandboxOptions, warnIfReachable } from "./flags.ts";

export function registerSandboxStart(parent: Command, context: Context): void {
  const command = addStartFlags(
    parent.command("start").description("serve the sandbox over HTTP, until SIGINT or SIGTERM"),
  )
    .addHelpText("after", `\n${faultHelp}`)
    .action((flags: StartFlags) => runSandboxStart(context, flags));
  describeCommand(command, {
    isLocal: true,
    examples: [
      "ecm sandbox start --port 8080 --hourly-limit 100 --window 60",
      "ecm sandbox start --data ./rehearsal --fault truncate:GET:*:p=0.05:seed=1",
    ],
    output:
      'One line of JSON when it accepts requests: {"baseUrl","apiKey","structureId"}. Sandboxes on one folder see the same data and spend the same limits; without --data it is that of the profile sandbox.',
    exitCodes: { 0: "stopped by SIGINT or SIGTERM" },
  });
}

async function runSandboxStart(context: Context, flags: StartFlags): Promise<void> {
  const { openSandbox } = await import("../../sandbox/index.ts");
  const sandbox = await openSandbox(sandboxOptions(context, flags));
  try {
    const server = await sandbox.serve(flags);
    warnIfReachable(context, flags, server);
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
