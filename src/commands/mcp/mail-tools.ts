/** Read-only tools for campaigns, sending domains and reports. */
import { UsageError } from "../../errors.ts";
import { type Paged, pagedBy, part, readPage } from "./pages.ts";
import {
  anySchema,
  createInputSchema,
  limitInput,
  pageInput,
  readOnlyAnnotations,
  rowsSchema,
  type Tool,
} from "./tool.ts";
import { createReader, joinWords, offerArguments, type Toolkit } from "./toolkit.ts";

export function mailTools(toolkit: Toolkit): Tool[] {
  return [
    createReader(toolkit, {
      name: "campaigns_list",
      title: "Campaigns",
      description: "The campaigns, those changed last first, a page at a time.",
      path: ["campaigns", "list"],
      offers: ["--status", ...pagedBy("--size")],
      output: rowsSchema("campaigns"),
      read: (words, paged: Paged, { invoke, signal }) =>
        readPage(invoke, "campaigns", { words, ...paged }, signal),
    }),
    reportTool(toolkit),
    createReader(toolkit, {
      name: "domains_list",
      title: "Sending domains",
      description: "The sending domains: whether each is ready, and what it needs in DNS.",
      path: ["domains", "list"],
      own: { limit: limitInput, page: pageInput },
      output: rowsSchema("domains"),
      read: async (words, paged: Paged, { invoke, signal }) =>
        part("domains", (await invoke(words, { signal })).value as unknown[], paged),
    }),
  ];
}

interface ReportInput {
  campaign?: string;
  event?: string;
  days?: number;
}

/** One tool for three commands: what is given says which. */
function reportTool(toolkit: Toolkit): Tool {
  const period = ["--days", "--timezone"];
  const reports = {
    campaign: { path: ["reports", "campaign"], offers: ["<campaign>", "--timezone"] },
    histogram: { path: ["reports", "histogram"], offers: ["--event", ...period] },
    show: { path: ["reports", "show"], offers: period },
  };
  const offered = {
    campaign: offerArguments(toolkit, reports.campaign),
    histogram: offerArguments(toolkit, reports.histogram),
    show: offerArguments(toolkit, reports.show),
  };
  return {
    name: "report_show",
    description:
      "What became of mails: of all in the last days (dashboard and overall), of one campaign, or one type of event by days.",
    inputSchema: createInputSchema({ ...offered.campaign.properties, ...offered.histogram.properties }),
    outputSchema: anySchema,
    annotations: { title: "Reports", ...readOnlyAnnotations },
    names: offered.histogram.names,
    async call(input: ReportInput, signal) {
      const { campaign, event, days } = input;
      if (campaign !== undefined && (event !== undefined || days !== undefined)) {
        throw new UsageError("A campaign's report takes neither event nor days", "Leave them out");
      }
      const kind = campaign !== undefined ? "campaign" : event !== undefined ? "histogram" : "show";
      const words = joinWords(reports[kind].path, await offered[kind].toWords(input));
      return { report: (await toolkit.invoke(words, { signal })).value };
    },
  };
}
