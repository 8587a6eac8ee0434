import { type Command, Option } from "@commander-js/extra-typings";
import type { PlanFile, PlanLine } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { drawDifference, toPlanObject } from "../bulk/plan.ts";
import { isChange, listCreated } from "../bulk/words.ts";
import type { OptionsOf } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";

type PlanShowFlags = OptionsOf<typeof declareShow>;

function declareShow(parent: Command) {
  return parent
    .command("show")
    .description("show a plan file: what it would write, for a reviewer or a pull request")
    .argument("<file>", "written by --dry-run --plan FILE")
    .option("--redact", "line numbers in place of addresses, and no values")
    .addOption(
      new Option("-o, --output <format>", "format: markdown is for a pull request").choices([
        "table",
        "json",
        "ndjson",
        "markdown",
      ]),
    );
}

export function registerPlanShow(parent: Command, context: Context): void {
  const command = declareShow(parent).action((file, flags) => runPlanShow(context, file, flags));
  describeCommand(command, {
    examples: ["ecm plan show plan.ndjson", "ecm plan show plan.ndjson --redact -o markdown > comment.md"],
    output: "The plan; with -o json one object whose `lines` are the contacts, with -o ndjson one line each.",
    isLocal: true,
    exitCodes: { 2: "not a plan, or one that was changed, cut off or made by an incompatible version" },
  });
}

async function runPlanShow(context: Context, file: string, flags: PlanShowFlags): Promise<void> {
  const { terminal } = context;
  const [{ openPlanFile }, { createPlanRedactor }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../bulk/report.ts"),
  ]);
  const plan = await openPlanFile(file);
  const redact = flags.redact ? createPlanRedactor() : (line: PlanLine) => line;
  const { format } = context.output();
  async function* lines(): AsyncGenerator<PlanLine> {
    for await (const line of plan.shownLines()) yield redact(line);
  }
  if (flags.output === "markdown") {
    await terminal.write(await formatMarkdown(plan, lines()));
    return flags.redact ? undefined : writeContacts(context, lines());
  }
  if (format === "json") return writeJson(context, plan, lines());
  if (format === "ndjson") {
    for await (const line of lines()) await terminal.write(`${JSON.stringify(line)}\n`);
    return;
  }
  for (const line of formatHead(plan)) await terminal.write(`${line}\n`);
  // In blocks, so that the first screen is there at once.
  let block: PlanLine[] = [];
  const flush = async () => {
    if (block.length > 0) await terminal.write(`${drawDifference(terminal, block, "out").join("\n")}\n`);
    block = [];
  };
  for await (const line of lines()) {
    if (isChange(line) && block.push(line) === blockLines) await flush();
  }
  await flush();
}

const blockLines = 100;

function formatHead({ head, end, creations, writes }: PlanFile): string[] {
  const counts = Object.entries(end.counts).filter(([, contacts]) => contacts > 0);
  return [
    `Plan: ${formatCount(writes)} to write, ${end.digest}`,
    `Account: ${head.account.baseUrl}`,
    `Made: ${head.createdAt} by ecm ${head.program} (${head.kind})`,
    `Contacts: ${counts.map(([action, contacts]) => `${formatCount(contacts)} ${action}`).join(", ") || "none"}`,
    ...(creations.length > 0 ? [`Created first: ${listCreated(creations)}`] : []),
    `Applying it: ${formatCounted(end.requests, "request")} and one look-up per 100 contacts`,
  ];
}

async function writeJson(
  { terminal }: Context,
  plan: PlanFile,
  lines: AsyncGenerator<PlanLine>,
): Promise<void> {
  const about = JSON.stringify(toPlanObject(plan));
  await terminal.write(`${about.slice(0, -1)},"lines":[`);
  let separator = "";
  for await (const line of lines) {
    await terminal.write(`${separator}${JSON.stringify(line)}`);
    separator = ",";
  }
  await terminal.write("]}\n");
}

/** A table of the contacts that are written: who, and what. */
async function writeContacts({ terminal }: Context, lines: AsyncGenerator<PlanLine>): Promise<void> {
  await terminal.write("\n| Contact | Action | Changes |\n| --- | --- | --- |\n");
  for await (const line of lines) {
    if (!isChange(line)) continue;
    const changes = line.changes.map(formatChange).join("; ");
    await terminal.write(`| ${[line.key, line.action, changes].map(escapeCell).join(" | ")} |\n`);
  }
}

function formatChange({ what, name, before, after }: PlanLine["changes"][number]): string {
  if (typeof after === "boolean") return `${after ? "+" : "-"} ${what} ${name}`;
  return before === null || before === ""
    ? `${name}: ${after}`
    : `${name}: ${before} → ${after || "(empty)"}`;
}

/** For a comment on a pull request: what is written, in counts; no line of a contact. */
async function formatMarkdown(plan: PlanFile, lines: AsyncGenerator<PlanLine>): Promise<string> {
  const parts = new Map<string, number>();
  for await (const { action, changes } of lines) {
    if (action !== "update") continue;
    for (const { what, name } of changes) {
      const part = `${what} ${name}`;
      parts.set(part, (parts.get(part) ?? 0) + 1);
    }
  }
  const { head, end, creations, writes } = plan;
  const formatTable = (heading: [string, string], rows: [string, string][]) =>
    rows.length === 0 ? [] : [formatRow(heading), "| --- | ---: |", ...rows.map(formatRow), ""];
  return [
    `### Plan: ${formatCounted(writes, "contact")} to write`,
    "",
    ...formatTable(
      ["Action", "Contacts"],
      Object.entries(end.counts).map(([action, contacts]) => [action, formatCount(contacts)]),
    ),
    ...formatTable(
      ["Changed", "Contacts"],
      [...parts].map(([part, contacts]) => [part, formatCount(contacts)]),
    ),
    ...creations.map(({ what, name }) => `- Creates the ${what} ${escapeCell(JSON.stringify(name))}`),
    `- Account: ${escapeCell(head.account.baseUrl)}`,
    `- Made: ${head.createdAt} by ecm ${head.program} (${head.kind})`,
    `- Requests: ${formatCount(end.requests)}`,
    `- Digest: \`${end.digest}\``,
    "",
  ].join("\n");
}

function formatRow(cells: [string, string]): string {
  return `| ${cells.map(escapeCell).join(" | ")} |`;
}

/** Names are other people's text. */
function escapeCell(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#|!~]/g, "\\$&").replace(/\s+/g, " ");
}
