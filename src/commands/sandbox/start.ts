import { once } from "node:events";
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { Sandbox } from "../../sandbox/index.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { createStyle } from "../../terminal/style.ts";
import { cut } from "../../terminal/text-width.ts";
import { verb } from "../verb.ts";
import { addStartFlags, followRequests, whileServing } from "./shared.ts";

export function registerSandboxStart(parent: Command, context: Context): void {
  const command = addStartFlags(
    parent.command("start").description("serve the sandbox over HTTP, until SIGINT or SIGTERM"),
  );
  verb(context, command, {
    isLocal: true,
    examples: [
      "ecm sandbox start --port 8080 --hourly-limit 100 --window 60",
      "ecm sandbox start --data ./rehearsal --fault truncate:GET:*:p=0.05:seed=1",
      "ecm sandbox start --variant page=cap:100 --variant lists=array",
    ],
    output:
      'One line of JSON when it accepts requests: {"baseUrl","apiKey","structureId"}; at a terminal how to use it, and each request. Sandboxes on the same folder share data and limits; the default is the folder of the profile sandbox.',
    exitCodes: { 0: "stopped by SIGINT or SIGTERM" },
    run: (flags) =>
      whileServing(context, flags, async (sandbox, baseUrl) => {
        const ready = { baseUrl, apiKey: sandbox.ownKey(), structureId: sandbox.structureId };
        // A signal is the regular end of this command.
        if (context.terminal.isStdoutTerminal) return showLive(context, sandbox, ready);
        await context.terminal.write(`${JSON.stringify(ready)}\n`);
        if (!context.signal.aborted) await once(context.signal, "abort");
      }),
  });
}

/** Width of the other columns: time, method, status and duration, with the gaps between them. */
const columnsBesidePath = 34;

/** Shows at a terminal how to use the sandbox, then a line for each request, until the signal. */
async function showLive(
  context: Context,
  { admin }: Sandbox,
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
): Promise<void> {
  const { terminal, signal } = context;
  const { bold, dim, red } = createStyle(terminal.isColored.out);
  await terminal.write(
    [
      `${bold("Sandbox")} at ${bold(baseUrl)}   Ctrl-C stops`,
      `Use it:  ECM_BASE_URL=${baseUrl} ECM_API_KEY=${apiKey} ecm lists list`,
      `Look:    ${baseUrl}/__sandbox/`,
      "",
      "",
    ].join("\n"),
  );
  const pathWidth = Math.max(20, terminal.columns - columnsBesidePath);
  try {
    for await (const { time, method, path, status, milliseconds, fault } of followRequests(
      context,
      admin,
      {},
    )) {
      const clock = new Date(time).toTimeString().slice(0, 8);
      const answer = status === null ? red("dropped") : status < 400 ? String(status) : red(String(status));
      const end = fault ? `  ${red(escapeControls(fault))}` : "";
      const shownPath = cut(escapeControls(path), pathWidth).padEnd(pathWidth);
      const line = `${dim(clock)}  ${method.padEnd(6)} ${shownPath}  ${answer}`;
      await terminal.write(`${line}  ${dim(`${Math.round(milliseconds)} ms`)}${end}\n`);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
