import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { readChained } from "../../disk/chained-file.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { type AuditLine, requireAuditFile } from "../shared/audit.ts";
import { addOutputFileFlags, wholeNumberOption } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";

const view: View<AuditLine> = {
  columns: [
    { name: "time", value: ({ time }) => time, isTime: "minute" },
    { name: "user", value: ({ user, host }) => `${user}@${host}` },
    { name: "profile", value: ({ profile, baseUrl }) => profile ?? baseUrl },
    { name: "command", value: ({ command }) => command.join(" ") },
    { name: "requests", value: ({ requests }) => String(requests) },
    { name: "run", value: ({ run }) => run ?? "" },
    { name: "exit", value: ({ exitCode }) => String(exitCode) },
  ],
  id: ({ run }) => run ?? "",
  empty: "No command was recorded.",
};

interface ShowFlags extends OutputFileFlags {
  limit?: number;
}

export function registerAuditShow(parent: Command, context: Context): void {
  const command = parent
    .command("show", { isDefault: true })
    .description("show the record of commands that talked to a service, oldest first")
    .addOption(wholeNumberOption("--limit <n>", "the newest N"))
    .action((flags: ShowFlags) => runAuditShow(context, flags));
  describeCommand(addOutputFileFlags(command), {
    isLocal: true,
    examples: ["ecm audit show", "ecm audit show --limit 20 --json"],
    output:
      "A line for each command: time, user, host, profile, the command's words, the method of `api`, the names of flags, requests, run, counts, the plan's digest, exit code, milliseconds. No address and no value.",
  });
}

async function runAuditShow(context: Context, flags: ShowFlags): Promise<void> {
  const output = context.output(flags);
  const lines = (await readChained(requireAuditFile(context))).filter((line) => line !== undefined);
  const shown = flags.limit === undefined ? lines : lines.slice(lines.length - flags.limit);
  await presentList(context.terminal, output, shown as AuditLine[], view);
}
