/** How campaigns look to people. */
import { listMembers } from "../../../service/records.ts";
import type { Column, View } from "../../../terminal/present.ts";
import { everyColumn, memberColumn, recordId, toCell } from "../../shared/record-columns.ts";

/** The number of recipients has no published name. */
function findRecipients(campaign: unknown): [name: string, count: unknown] | undefined {
  return listMembers(campaign).find(([name, value]) => /recipient/i.test(name) && typeof value === "number");
}

/** The columns that show the whole campaign. */
export function wholeCampaign(campaign: unknown): Column<unknown>[] {
  const known = campaignView.columns.map(({ name }) => name);
  return everyColumn(campaignView.columns, campaign, [...known, findRecipients(campaign)?.[0] ?? ""]);
}

export const campaignView: View<unknown> = {
  columns: [
    memberColumn("name"),
    memberColumn("status"),
    memberColumn("subject"),
    memberColumn("sentCount", { title: "sent" }),
    memberColumn("failedCount", { title: "failed" }),
    { name: "recipients", value: (campaign) => toCell(findRecipients(campaign)?.[1]) },
    memberColumn("updatedAt", { title: "updated", isTime: true }),
    memberColumn("_id", { title: "id", isWhole: true, isAside: true }),
    memberColumn("from", { optional: true }),
    memberColumn("previewText", { title: "preview text", optional: true }),
    memberColumn("previewImageUrl", { title: "preview image", optional: true }),
    memberColumn("createdAt", { title: "created", isTime: true, optional: true }),
  ],
  id: recordId,
  empty: "No campaigns",
};
