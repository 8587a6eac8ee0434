import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerCampaignsGet } from "./get.ts";
import { registerCampaignsList } from "./list.ts";

export function registerCampaigns(campaigns: Command, context: Context): void {
  registerCampaignsList(campaigns, context);
  registerCampaignsGet(campaigns, context);
}
