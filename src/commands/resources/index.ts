/**
 * `ecm campaigns`, `templates`, `domains` and `reports`: what the service tells, to look at. One row for each
 * command; in JSON formats the answers are untouched.
 */
import { type Command, Option } from "@commander-js/extra-typings";
import { dnsRecords, reportedEvents } from "../../api/reports.ts";
import type { Context } from "../../context.ts";
import {
  campaignPages,
  fetchCampaign,
  fetchDomains,
  findDomain,
  hasOtherStatus,
  longestReport,
  resolveCampaign,
  templatePages,
} from "../../service/resources.ts";
import { isForPeople, type OutputOptions } from "../../terminal/format.ts";
import { checkColumns, hasColumns, presentList, presentOne, type View } from "../../terminal/present.ts";
import { addOutputFileFlags, wholeNumberOption } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import type { Register } from "../help/tree.ts";
import { addPageFlags, showPages } from "../output/pages.ts";
import {
  type Call,
  checkHistogram,
  checkSpan,
  type ResourceFlags,
  requireZone,
  showCampaignReport,
  showHistogram,
  showReports,
} from "./reports.ts";
import {
  campaignView,
  dnsRecordView,
  domainView,
  everyColumn,
  figureView,
  formatDnsRecord,
  histogramView,
  templateView,
  withoutDnsRecords,
} from "./views.ts";

interface Resource {
  noun: string;
  verb: string;
  /** What the noun alone stands for. */
  isDefault?: boolean;
  description: string;
  argument?: [name: string, description: string];
  addFlags?(command: Command): Command;
  examples: string[];
  output: string;
  /** What `--columns` may name. */
  view: View<never>;
  /** Before a request is sent. @throws UsageError */
  check?(flags: ResourceFlags): void;
  show(call: Call): Promise<void>;
}

const byIdOrName: Resource["argument"] = ["<campaign>", "its id or name"];
const listOutput = "in JSON formats the service's own objects, `[]` when there is none.";

const resources: Resource[] = [
  {
    noun: "campaigns",
    verb: "list",
    description: "list the campaigns, those changed last first",
    addFlags: (command) =>
      addPageFlags(
        command.option("--status <status>", "only those with this status, such as draft or sent"),
        "campaigns",
      ),
    examples: ["ecm campaigns list", "ecm campaigns list --status sent --all --json"],
    output: `One row per campaign; ${listOutput}`,
    view: campaignView,
    show: ({ send, flags, ...call }) => {
      const { status } = flags;
      // A service may pass over a status.
      const isShown = (campaign: unknown) => status === undefined || !hasOtherStatus(campaign, status);
      const read = campaignPages(send, status);
      return showPages(call, flags, { things: "campaigns", view: campaignView, read, isShown });
    },
  },
  {
    noun: "campaigns",
    verb: "get",
    description: "show one campaign",
    argument: byIdOrName,
    examples: ["ecm campaigns get 'Spring sale'", "ecm campaigns get 'Spring sale' --json"],
    output: "The campaign with all that the service tells of it; in JSON formats the service's own object.",
    view: campaignView,
    show: async ({ context, output, send, wanted }) => {
      const campaign = await fetchCampaign(send, (await resolveCampaign(send, wanted))._id);
      await presentOne(context.terminal, output, campaign, wholeView(output, campaignView, campaign));
    },
  },
  {
    noun: "templates",
    verb: "list",
    description: "list the email templates",
    addFlags: (command) => addPageFlags(command, "templates"),
    examples: ["ecm templates list", "ecm templates list --all --json"],
    output: `One row per template; ${listOutput}`,
    view: templateView,
    show: ({ send, flags, ...call }) =>
      showPages(call, flags, { things: "templates", view: templateView, read: templatePages(send) }),
  },
  {
    noun: "domains",
    verb: "list",
    description: "list the sending domains, and whether they are ready",
    examples: ["ecm domains list", "ecm domains list --json"],
    output: `One row per domain; ${listOutput}`,
    view: domainView,
    show: async ({ context, output, send }) => {
      await presentList(context.terminal, output, await fetchDomains(send), domainView);
    },
  },
  {
    noun: "domains",
    verb: "get",
    description: "show one sending domain, and what is missing in DNS",
    argument: ["<domain>", "its name or id"],
    examples: ["ecm domains get example.com", "ecm domains get example.com -o csv"],
    output:
      "The domain, then each DNS record that is missing as a line to copy: type, name, value. In csv and tsv one row per DNS record; in JSON formats the service's own object.",
    view: dnsRecordView,
    show: showDomain,
  },
  {
    noun: "reports",
    verb: "show",
    isDefault: true,
    description: "show the dashboard and all mails of the last days",
    addFlags: addSpanFlags,
    examples: ["ecm reports", "ecm reports show --days 7 --timezone Europe/Oslo", "ecm reports show -o csv"],
    output:
      "One row per number, with its change against the span before; in JSON { dashboard, overall }, the service's own objects. 2 requests.",
    view: figureView,
    check: checkSpan,
    show: showReports,
  },
  {
    noun: "reports",
    verb: "campaign",
    description: "show what became of a campaign's mails",
    argument: byIdOrName,
    addFlags: (command) =>
      command
        .addOption(
          new Option(
            "--period <period>",
            "also opens and clicks by hours or days from its sending on",
          ).choices(["24hours", "week", "month"]),
        )
        .addOption(zoneOption()),
    examples: [
      "ecm reports campaign 'Spring sale'",
      "ecm reports campaign 'Spring sale' --period week --json",
    ],
    output:
      "One row per number, and the command that names who bounced or complained; in JSON formats the service's own object, with --period { report, engagement }.",
    view: figureView,
    show: showCampaignReport,
  },
  {
    noun: "reports",
    verb: "histogram",
    description: "show one type of event by days",
    addFlags: (command) =>
      addSpanFlags(
        command.addOption(
          new Option(
            "--event <type>",
            "type of event; of openings and the like a contact's first in a campaign counts",
          ).choices(Object.keys(reportedEvents)),
        ),
      ),
    examples: [
      "ecm reports histogram --event email-opened",
      "ecm reports histogram --event email-bounced --days 90 -o csv",
    ],
    output: "One row per day with its number; in JSON formats the service's own object.",
    view: histogramView,
    check: checkHistogram,
    show: showHistogram,
  },
];

export const registerCampaigns = register("campaigns");
export const registerTemplates = register("templates");
export const registerDomains = register("domains");
export const registerReports = register("reports");

function register(noun: string): Register {
  return (group, context) => {
    for (const resource of resources.filter((each) => each.noun === noun)) {
      const { verb, isDefault, description, argument, addFlags, examples, output } = resource;
      const command = group.command(verb, { isDefault }).description(description);
      if (argument) command.argument(...argument);
      command.action((...words: unknown[]) => {
        const [wanted, flags] = argument ? words : ["", ...words];
        return runResource(context, resource, wanted as string, flags as ResourceFlags);
      });
      addOutputFileFlags(addFlags?.(command) ?? command);
      describeCommand(command, { examples, output });
    }
  };
}

async function runResource(
  context: Context,
  { view, check, show }: Resource,
  wanted: string,
  flags: ResourceFlags,
): Promise<void> {
  const output = context.output(flags);
  checkColumns(output, view);
  check?.(flags);
  const { send } = await context.connect();
  await show({ context, output, send, wanted, flags });
}

/** To people every member is shown. */
function wholeView(output: OutputOptions, view: View<unknown>, record: unknown): View<unknown> {
  const isScreen = output.format === "table" && !output.columns;
  return isScreen ? { ...view, columns: everyColumn(view, record) } : view;
}

async function showDomain({ context, output, send, wanted }: Call): Promise<void> {
  const { terminal } = context;
  const domain = findDomain(await fetchDomains(send), wanted);
  if (!hasColumns(output)) return presentOne(terminal, output, domain, domainView);
  const records = dnsRecords(domain);
  if (!isForPeople(output)) {
    await presentList(terminal, output, records, dnsRecordView);
    return;
  }
  const told = withoutDnsRecords(domain);
  await presentOne(terminal, output, told, wholeView(output, domainView, told));
  // Never cut: they are copied.
  const missing = records.filter((record) => record.missing).map(formatDnsRecord);
  if (missing.length > 0) {
    await terminal.write(`\nMissing in DNS (type, name, value):\n${missing.join("")}`);
  }
}

function addSpanFlags(command: Command): Command {
  return command
    .addOption(wholeNumberOption("--days <n>", `how far to look back, at most ${longestReport} (30)`))
    .addOption(zoneOption());
}

function zoneOption(): Option {
  const description = "in whose days it counts, such as Europe/Oslo (this machine's)";
  return new Option("--timezone <zone>", description).argParser(requireZone);
}
