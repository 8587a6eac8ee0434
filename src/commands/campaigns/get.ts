import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { fetchCampaign, resolveCampaign } from "../../service/campaigns.ts";
import { checkColumns, presentOne } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { campaignView, wholeCampaign } from "./shared/view.ts";

export function registerCampaignsGet(parent: Command, context: Context): void {
  const command = parent
    .command("get")
    .description("show one campaign")
    .argument("<campaign>", "its id or name")
    .action((wanted: string, flags: OutputFileFlags) => runCampaignsGet(context, wanted, flags));
  describeCommand(addOutputFileFlags(command), {
    examples: ["ecm campaigns get 'Spring sale'", "ecm campaigns get 'Spring sale' --json"],
    output: "The campaign with all that the service tells of it; in JSON formats the service's own object.",
  });
}

async function runCampaignsGet(context: Context, wanted: string, flags: OutputFileFlags): Promise<void> {
  const output = context.output(flags);
  checkColumns(output, campaignView);
  const { send } = await context.connect();
  const campaign: unknown = await fetchCampaign(send, (await resolveCampaign(send, wanted))._id);
  const isScreen = output.format === "table" && !output.columns;
  const columns = isScreen ? wholeCampaign(campaign) : campaignView.columns;
  await presentOne(context.terminal, output, campaign, { ...campaignView, columns });
}
