import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { describeDiskError } from "../../disk/disk-errors.ts";
import { toStopSignal, usageError } from "../../errors.ts";
import { verb } from "../verb.ts";
import { addStartFlags, whileServing } from "./shared.ts";

export function registerSandboxExec(parent: Command, context: Context): void {
  const command = addStartFlags(
    parent
      .command("exec")
      .description("run a command against a sandbox that stops with it")
      .argument("<command...>", "the command and its arguments, after --"),
  );
  verb(context, command, {
    isLocal: true,
    examples: [
      "ecm sandbox exec -- ecm import contacts.csv",
      "ecm sandbox exec --temporary -- npm test",
      "ecm sandbox exec --data ./rehearsal --fault 503:*:*:p=0.1 -- npm test",
      "ecm sandbox exec --variant keys=first -- npm test",
    ],
    output:
      "What the command writes. Its environment has ECM_BASE_URL and ECM_API_KEY, but no ECM_PROFILE or ECM_STRUCTURE. Without --data or --temporary the data stays, in the folder of the profile sandbox.",
    exitCodes: { 0: "the command exited with 0; any other exit code is passed on" },
    run: (words, flags) =>
      whileServing(context, flags, async (sandbox, baseUrl) => {
        const { ECM_PROFILE: _profile, ECM_STRUCTURE: _structure, ...inherited } = context.terminal.env;
        const env = { ...inherited, ECM_BASE_URL: baseUrl, ECM_API_KEY: sandbox.ownKey() };
        context.endWith(await runCommand(context, words, env));
      }),
  });
}

/** @returns its exit code, as a shell reports it @throws UsageError when there is no such command */
async function runCommand(
  { signal, terminal }: Context,
  [command, ...args]: string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  // A terminal stays a terminal for it.
  const child = spawn(command!, args, { env, stdio: "inherit" });
  const passOn = () => {
    const stop = toStopSignal(signal.reason);
    // At a terminal, Ctrl-C has reached the child already; a second one would stop it at once.
    if (stop === "SIGTERM" || !terminal.isStdinTerminal) child.kill(stop);
  };
  if (signal.aborted) passOn();
  signal.addEventListener("abort", passOn);
  try {
    const [code, killedBy] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (killedBy ? constants.signals[killedBy] : 0);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? "there is no such command" : describeDiskError(error);
    throw usageError(`Cannot run ${JSON.stringify(command)}: ${why}`, "The sandbox was stopped");
  } finally {
    signal.removeEventListener("abort", passOn);
  }
}
