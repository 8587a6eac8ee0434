import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { describeDiskError } from "../../disk/disk-errors.ts";
import { toStopSignal, usageError } from "../../errors.ts";
import type { Terminal } from "../../terminal/terminal.ts";
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
        const child = startChild(words, context.terminal, env);
        context.endWith(await exitCode(child, words[0]!, context));
      }),
  });
}

function startChild([command, ...args]: string[], terminal: Terminal, env: NodeJS.ProcessEnv): ChildProcess {
  const streams = [terminal.stdin, terminal.stdout, terminal.stderr];
  const stdio: StdioOptions = streams.map((stream) => fileDescriptor(stream) ?? "pipe");
  const child = spawn(command!, args, { env, stdio });
  if (child.stdin) terminal.stdin.pipe(child.stdin).on("error", () => {});
  child.stdout?.on("data", (chunk: Buffer) => terminal.stdout.write(chunk));
  child.stderr?.on("data", (chunk: Buffer) => terminal.stderr.write(chunk));
  return child;
}

/** The file descriptor of a stream, so that the child inherits it: a terminal stays a terminal. */
function fileDescriptor(stream: Readable | Writable): number | undefined {
  return "fd" in stream && typeof stream.fd === "number" ? stream.fd : undefined;
}

/** Waits for the child. @returns its exit code, as a shell reports it @throws UsageError when there is no such command */
function exitCode(child: ChildProcess, command: string, context: Context): Promise<number> {
  const passOn = () => {
    const signal = toStopSignal(context.signal.reason);
    // At a terminal, Ctrl-C has reached the child already; a second one would stop it at once.
    if (signal === "SIGTERM" || !context.terminal.isStdinTerminal) child.kill(signal);
  };
  return new Promise((resolve, reject) => {
    child.on("error", (error) =>
      reject(
        usageError(
          `Cannot run ${JSON.stringify(command)}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such command" : describeDiskError(error)}`,
          "The sandbox was stopped",
        ),
      ),
    );
    child.on("close", (code, signal) => {
      context.signal.removeEventListener("abort", passOn);
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
    if (context.signal.aborted) passOn();
    context.signal.addEventListener("abort", passOn, { once: true });
  });
}
