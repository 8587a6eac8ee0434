/** Which events are asked for, by whichever way they are read. */

import type { ContactEvent } from "../../api/events.ts";
import type { Context, OutputFileFlags } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import type { Feed } from "../../events/feed.ts";
import type { ResolvedCampaign } from "../../service/resources.ts";
import type { OutputOptions } from "../../terminal/format.ts";

export interface EventsOptions extends OutputFileFlags {
  type?: string[];
  campaign?: string;
  days?: number;
  since?: string;
  limit?: number;
  all?: boolean;
}

/** How far to look back where nobody says. */
export const defaultDays = 30;

export interface WantedEvents {
  contactId: string | undefined;
  campaign: Campaign | undefined;
  types: string[];
  output: OutputOptions;
  options: EventsOptions;
  now: number;
}

export type Campaign = ResolvedCampaign;

/** The feed knows no campaigns: they are held against each event here. Without one, every event will do. */
export function isFromCampaign(
  campaign: Campaign | undefined,
  { emailCampaignId, emailCampaignName }: ContactEvent,
): boolean {
  if (campaign === undefined || emailCampaignId === campaign._id) return true;
  return emailCampaignId === undefined && campaign.name !== undefined && emailCampaignName === campaign.name;
}

/** What the pages do not hold cannot be shown, and is not passed over in silence. */
export function warnOfMissingEvents({ terminal }: Context, { announced, events }: Feed): void {
  if (announced === undefined) return;
  const [announcedCount, readCount] = [announced, events.length].map((count) => formatCount(count));
  terminal.warn(
    `The service counts ${announcedCount} events, but its pages hold ${readCount}: some may be missing`,
  );
}
