import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { fetchDomains } from "../../service/domains.ts";
import { checkColumns, presentList } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { domainView } from "./shared/view.ts";

export function registerDomainsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the sending domains, and whether they are ready")
    .action((flags: OutputFileFlags) => runDomainsList(context, flags));
  describeCommand(addOutputFileFlags(command), {
    examples: ["ecm domains list", "ecm domains list --json"],
    output: "One row per domain; in JSON formats the service's own objects, `[]` when there is none.",
  });
}

async function runDomainsList(context: Context, flags: OutputFileFlags): Promise<void> {
  const output = context.output(flags);
  checkColumns(output, domainView);
  const { send } = await context.connect();
  await presentList(context.terminal, output, await fetchDomains(send), domainView);
}
