/** `ecm campaigns`, `templates`, `domains`, `reports`: only reads; in JSON formats the service's answers. */
import { type Command, Option } from "@commander-js/extra-typings";
import { foldCase } from "../api/names.ts";
import { listItems, readMember, textMember } from "../api/records.ts";
import type { Context } from "../context.ts";
import { isObject } from "../json.ts";
import { type ReadPage, readSinglePage, recordsPerPage } from "../service/pages.ts";
import {
  campaignPages,
  fetchCampaign,
  fetchDomain,
  fetchDomains,
  fetchReport,
  readAllRecords,
  resolveCampaign,
  templatePages,
} from "../service/resources.ts";
import { isForPeople } from "../terminal/format.ts";
import type { Column, View } from "../terminal/present.ts";
import { addOutputFileFlags, addPageFlags, toNextPage, wholeNumberOption } from "./flags/flags.ts";
import { type Result, verb } from "./verb.ts";

/** A column that shows a member of the record. @param title the heading, where it differs from the name */
function column(name: string, title?: string, more: Partial<Column<unknown>> = {}): Column<unknown> {
  return { name, title, value: (record) => toCell(readMember(record, name)), ...more };
}

/** A plain value, or anything else as JSON. */
function toCell(value: unknown): string | number | boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  return JSON.stringify(value);
}

const id = (record: unknown) => textMember(record, "_id") ?? "";
const lastColumns = [
  column("updatedAt", "updated", { isTime: true }),
  column("_id", "id", { isWhole: true, isAside: true }),
  column("createdAt", "created", { isTime: true, optional: true }),
];

const campaignView: View<unknown> = {
  columns: [
    column("name"),
    column("status"),
    column("subject"),
    column("sentCount", "sent"),
    column("failedCount", "failed"),
    ...lastColumns,
  ],
  id,
  empty: "No campaigns",
};

const templateView: View<unknown> = {
  columns: [column("name"), column("subject"), ...lastColumns],
  id,
  empty: "No templates",
};

const domainView: View<unknown> = {
  columns: [
    column("domain", undefined, { isWhole: true }),
    column("isReadyForSending", "ready"),
    ...["dkim", "spf", "dmarc", "linkTracking", "identity"].map((part) => ({
      name: part,
      // The member is an object with a status, or the status itself.
      value: (domain: unknown) => toCell(readMember(domain, part, "status") ?? readMember(domain, part)),
    })),
    column("sslCertStatus", "certificate"),
    column("lastCheckedAt", "checked", { isTime: true }),
    ...lastColumns.filter(({ name }) => name !== "updatedAt"),
  ],
  id,
  empty: "No sending domains",
};

/** One value of an answer with the path of its members, and what a number is compared with. */
interface Figure {
  name: string;
  value: unknown;
  prev?: unknown;
  diff?: unknown;
}

const figureView: View<unknown> = {
  columns: [column("name"), column("value"), column("prev", "before"), column("diff", "change %")],
  id: (figure) => (figure as Figure).name,
};

const dayView: View<unknown> = {
  columns: [
    column("date", undefined, { isWhole: true }),
    column("total"),
    column("detail", undefined, { optional: true }),
  ],
  id: (day) => textMember(day, "date") ?? "",
};

/** Every value of an answer, such as `dkim.status`, in its order. */
function listFigures(value: unknown, name = ""): Figure[] {
  if (isComparison(value)) return [{ ...value, name }];
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0 && name !== "") return [{ name, value }];
  return members.flatMap(([member, part]) => listFigures(part, name === "" ? member : `${name}.${member}`));
}

function isComparison(value: unknown): value is Omit<Figure, "name"> {
  return (
    isObject(value) &&
    "value" in value &&
    Object.keys(value).every((name) => /^(?:value|prev|diff)$/.test(name))
  );
}

/** One record: for people all its values, for other formats the columns of its list. */
function whole(record: unknown, view: View<unknown>): Result<unknown> {
  const columns = listFigures(record).map(({ name, value }) => ({ name, value: () => toCell(value) }));
  return { one: record, view: async (output) => (isForPeople(output) ? { ...view, columns } : view) };
}

/** A report: one row for each value. */
function report(value: unknown): Result<unknown> {
  return { many: listFigures(value), value };
}

/** One page, or every page with `--all`. @param things such as `campaigns` */
async function list(
  read: ReadPage<unknown>,
  things: string,
  { page, size = recordsPerPage, all }: { page?: number; size?: number; all?: true },
  isShown: (record: unknown) => boolean = () => true,
): Promise<Result<unknown>> {
  if (!all) {
    const { items, ...rest } = await readSinglePage(read, page ?? 1, { size });
    return { many: items.filter(isShown), page: { things, size, ...toNextPage(page), ...rest } };
  }
  const { records, total } = await readAllRecords(read);
  const isCut = records.length < total;
  const note = isCut ? `${records.length} of ${total} ${things} were read: some may be missing` : undefined;
  return { many: records.filter(isShown), note };
}

const listOutput = "in JSON formats the service's own objects, `[]` when there is none.";
const wholeOutput =
  "all that the service tells of it, one line for each value; in JSON formats the service's own object.";
const byIdOrName = ["<campaign>", "its id or name"] as const;

export function registerCampaigns(group: Command, context: Context): void {
  const listing = group
    .command("list")
    .description("list the campaigns, those changed last first")
    .option("--status <status>", "only those with this status, such as draft or sent");
  verb(context, addOutputFileFlags(addPageFlags(listing, "campaigns")), {
    examples: ["ecm campaigns list", "ecm campaigns list --status sent --all --json"],
    output: `One row per campaign; ${listOutput}`,
    view: campaignView,
    async run({ status, ...flags }) {
      const { send } = await context.connect();
      // The service may ignore the status.
      return list(campaignPages(send, status), "campaigns", flags, (campaign) => {
        const own = textMember(campaign, "status") ?? status;
        return status === undefined || foldCase(own!) === foldCase(status);
      });
    },
  });

  const getting = group
    .command("get")
    .description("show one campaign")
    .argument(...byIdOrName);
  verb(context, addOutputFileFlags(getting), {
    examples: ["ecm campaigns get 'Spring sale'", "ecm campaigns get 'Spring sale' --json"],
    output: `The campaign with ${wholeOutput}`,
    view: campaignView,
    async run(wanted) {
      const { send } = await context.connect();
      return whole(await fetchCampaign(send, await resolveCampaign(send, wanted)), campaignView);
    },
  });
}

export function registerTemplates(group: Command, context: Context): void {
  const listing = group.command("list").description("list the email templates");
  verb(context, addOutputFileFlags(addPageFlags(listing, "templates")), {
    examples: ["ecm templates list", "ecm templates list --all --json"],
    output: `One row per template; ${listOutput}`,
    view: templateView,
    run: async (flags) => list(templatePages((await context.connect()).send), "templates", flags),
  });
}

export function registerDomains(group: Command, context: Context): void {
  const listing = group.command("list").description("list the sending domains, and whether they are ready");
  verb(context, addOutputFileFlags(listing), {
    examples: ["ecm domains list", "ecm domains list --json"],
    output: `One row per domain; ${listOutput}`,
    view: domainView,
    run: async () => ({ many: await fetchDomains((await context.connect()).send) }),
  });

  const getting = group
    .command("get")
    .description("show one sending domain, with the DNS records that it needs")
    .argument("<domain>", "its name or id");
  verb(context, addOutputFileFlags(getting), {
    examples: ["ecm domains get example.com", "ecm domains get example.com --json"],
    output: `The domain with ${wholeOutput}`,
    view: domainView,
    run: async (wanted) => whole(await fetchDomain((await context.connect()).send, wanted), domainView),
  });
}

const zoneFlag = [
  "--timezone <zone>",
  "in whose days it counts, such as Europe/Oslo (this machine's)",
] as const;
const daysOption = () => wholeNumberOption("--days <n>", "how far to look back, at most 90 (30)", 1, 90);

/** The types of events → their names in reports, which count only a contact's first open, click and so on. */
const reportedEvents: Record<string, string> = {
  "email-sent": "email-sent",
  "email-delivered": "email-delivered",
  "email-bounced": "email-bounced",
  "email-opened": "first-email-opened",
  "email-clicked": "first-email-clicked",
  "email-complaint": "first-email-complaint",
  "contact-unsubscribed": "first-contact-unsubscribed",
};

export function registerReports(group: Command, context: Context): void {
  const showing = group
    .command("show", { isDefault: true })
    .description("show the dashboard and all mails of the last days")
    .addOption(daysOption())
    .option(...zoneFlag);
  verb(context, addOutputFileFlags(showing), {
    examples: ["ecm reports", "ecm reports show --days 7 --timezone Europe/Oslo", "ecm reports show -o csv"],
    output: "One row per value; in JSON { dashboard, overall }, the service's own objects. 2 requests.",
    view: figureView,
    async run(flags) {
      const { send } = await context.connect();
      const dashboard = await fetchReport(send, "dashboard", toSpan(flags));
      return report({ dashboard, overall: await fetchReport(send, "email/overall", toSpan(flags)) });
    },
  });

  const ofCampaign = group
    .command("campaign")
    .description("show what became of a campaign's mails")
    .argument(...byIdOrName)
    .addOption(
      new Option("--period <period>", "also opens and clicks by hours or days from its sending on").choices([
        "24hours",
        "week",
        "month",
      ] as const),
    )
    .option(...zoneFlag);
  verb(context, addOutputFileFlags(ofCampaign), {
    examples: [
      "ecm reports campaign 'Spring sale'",
      "ecm reports campaign 'Spring sale' --period week --json",
    ],
    output:
      "One row per value; in JSON formats the service's own object, with --period { report, engagement }.",
    view: figureView,
    async run(wanted, { period, timezone = ownZone() }) {
      const { send } = await context.connect();
      const path = `email/${encodeURIComponent(await resolveCampaign(send, wanted))}`;
      const overview = await fetchReport(send, path);
      if (period === undefined) return report(overview);
      const engagement = await fetchReport(send, `${path}/engagement`, { period, timezone });
      return report({ report: overview, engagement });
    },
  });

  const byDays = group
    .command("histogram")
    .description("show one type of event by days")
    .addOption(
      new Option(
        "--event <type>",
        "type of event; of openings and the like a contact's first in a campaign counts",
      )
        .choices(Object.keys(reportedEvents))
        .makeOptionMandatory(),
    )
    .addOption(daysOption())
    .option(...zoneFlag);
  verb(context, addOutputFileFlags(byDays), {
    examples: [
      "ecm reports histogram --event email-opened",
      "ecm reports histogram --event email-bounced --days 90 -o csv",
    ],
    output: "One row per day with its number; in JSON formats the service's own object.",
    view: dayView,
    async run({ event, ...span }) {
      const query = { ...toSpan(span), eventType: reportedEvents[event]! };
      const value = await fetchReport((await context.connect()).send, "email/overall/histogram", query);
      return { many: listItems(value, "histogram"), value };
    },
  });
}

function toSpan({ days = 30, timezone = ownZone() }: { days?: number; timezone?: string }) {
  return { pastDays: String(days), timezone };
}

/** This machine's time zone; UTC where TZ is empty and there is none. */
function ownZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return !timeZone || timeZone === "Etc/Unknown" ? "UTC" : timeZone;
}
