/** Read-only tools for campaigns, sending domains and reports. */

import { UsageError } from "../../errors.ts";
import { reportedEvents } from "../../service/reports.ts";
import { valueFlag } from "./flag-words.ts";
import type { Invoke } from "./invoke.ts";
import { type Paged, part, readPage } from "./pages.ts";
import {
  anySchema,
  createInputSchema,
  defaultRows,
  limitInput,
  pageInput,
  readOnlyAnnotations,
  rowsSchema,
  type Tool,
  textSchema,
} from "./tool.ts";

export function mailTools(invoke: Invoke): Tool[] {
  return [campaignsTool(invoke), reportTool(invoke), domainsTool(invoke)];
}

function campaignsTool(invoke: Invoke): Tool {
  return {
    name: "campaigns_list",
    description: "The campaigns, those changed last first, a page at a time.",
    inputSchema: createInputSchema({
      status: textSchema("such as draft or sent"),
      limit: limitInput,
      page: pageInput,
    }),
    outputSchema: rowsSchema("campaigns"),
    annotations: { title: "Campaigns", ...readOnlyAnnotations },
    async call({ status, limit = defaultRows, page = 1 }: Paged & { status?: string }, signal) {
      const words = ["campaigns", "list", `--size=${limit}`, `--page=${page}`];
      words.push(...valueFlag("--status", status));
      return readPage(invoke, "campaigns", { words, page }, signal);
    },
  };
}

interface ReportInput {
  campaign?: string;
  event?: string;
  days?: number;
  timezone?: string;
}

function reportTool(invoke: Invoke): Tool {
  return {
    name: "report_show",
    description:
      "What became of mails: of all in the last days (dashboard and overall), of one campaign, or one type of event by days.",
    inputSchema: createInputSchema({
      campaign: textSchema("name or id: what became of its mails, since it was sent"),
      event: { enum: reportedEvents, description: "a histogram of this type of event by days" },
      days: { type: "integer", minimum: 1, maximum: 90, description: "how far to look back (30)" },
      timezone: textSchema("in whose days it counts, such as Europe/Oslo"),
    }),
    outputSchema: anySchema,
    annotations: { title: "Reports", ...readOnlyAnnotations },
    async call({ campaign, event, days, timezone }: ReportInput, signal) {
      if (campaign !== undefined && (event !== undefined || days !== undefined)) {
        throw new UsageError("A campaign's report takes neither event nor days", "Leave them out");
      }
      const words =
        campaign === undefined
          ? ["reports", event === undefined ? "show" : "histogram", ...valueFlag("--event", event)]
          : ["reports", "campaign"];
      words.push(...valueFlag("--days", days), ...valueFlag("--timezone", timezone));
      if (campaign !== undefined) words.push("--", campaign);
      return { report: (await invoke(words, { signal })).value };
    },
  };
}

function domainsTool(invoke: Invoke): Tool {
  return {
    name: "domains_list",
    description: "The sending domains: whether each is ready, and what it needs in DNS.",
    inputSchema: createInputSchema({ limit: limitInput, page: pageInput }),
    outputSchema: rowsSchema("domains"),
    annotations: { title: "Sending domains", ...readOnlyAnnotations },
    async call(paged: Paged, signal) {
      return part("domains", (await invoke(["domains", "list"], { signal })).value as unknown[], paged);
    },
  };
}
