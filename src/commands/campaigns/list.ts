import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { campaignPages, hasOtherStatus } from "../../service/campaigns.ts";
import { describeCommand } from "../shared/help-text.ts";
import { addPageFlags, type PageFlags, showPages } from "../shared/record-list.ts";
import { campaignView } from "./shared/view.ts";

interface CampaignsListOptions extends PageFlags {
  status?: string;
}

export function registerCampaignsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the campaigns, those changed last first")
    .option("--status <status>", "only those with this status, such as draft or sent")
    .action(({ status, ...flags }: CampaignsListOptions) =>
      showPages(context, flags, {
        things: "campaigns",
        view: campaignView,
        pages: (send) => campaignPages(send, status),
        // A service that passes over what it does not know would give all of them.
        isShown: (campaign) => status === undefined || !hasOtherStatus(campaign, status),
      }),
    );
  describeCommand(addPageFlags(command, "campaigns"), {
    examples: ["ecm campaigns list", "ecm campaigns list --status sent --all --json"],
    output: "One row per campaign; in JSON formats the service's own objects, `[]` when there is none.",
  });
}
