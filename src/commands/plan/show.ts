import { type Command, Option } from "@commander-js/extra-typings";
import type { PlanFile, PlanLine } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { drawDifference, formatChanges } from "../bulk/plan.ts";
import { isChange, listCreated } from "../bulk/words.ts";
import { describeCommand } from "../help/help-text.ts";

export function registerPlan(group: Command, context: Context): void {
  const command = group
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
  describeCommand(command, {
    examples: ["ecm plan show plan.ndjson", "ecm plan show plan.ndjson --redact -o markdown > comment.md"],
    output: "The plan; with -o json one object whose `lines` are the contacts, with -o ndjson one line each.",
    isLocal: true,
    exitCodes: { 2: "not a plan, or one that was changed, cut off or made by an incompatible version" },
  });
  command.action(async (file, flags) => {
    const [{ openPlanFile }, { createPlanRedactor }] = await Promise.all([
      import("../../bulk/index.ts"),
      import("../bulk/report.ts"),
    ]);
    const plan = await openPlanFile(file);
    async function* lines(): AsyncGenerator<PlanLine> {
      const redact = flags.redact ? createPlanRedactor() : (line: PlanLine) => line;
      for await (const line of plan.shownLines()) yield redact(line);
    }
    const { terminal } = context;
    const { format } = context.output();
    const text =
      flags.output === "markdown"
        ? formatMarkdown(plan, lines, !flags.redact)
        : format === "json"
          ? formatJson(plan, lines())
          : format === "ndjson"
            ? formatLines(lines())
            : formatTable(plan, lines(), (block) => drawDifference(terminal, block, "out"));
    for await (const piece of text) await terminal.write(`${piece}\n`);
  });
}

type Lines = AsyncGenerator<PlanLine>;

async function* formatLines(lines: Lines): AsyncGenerator<string> {
  for await (const line of lines) yield JSON.stringify(line);
}

async function* formatJson({ head, creations, end }: PlanFile, lines: Lines): AsyncGenerator<string> {
  const { version, program, kind, command, account, input, createdAt } = head;
  const { counts, requests, digest } = end;
  const plan = { version, program, kind, command, account, input, createdAt };
  const about = JSON.stringify({ plan, creations, counts, requests, digest });
  yield `${about.slice(0, -1)},"lines":[`;
  let separator = "";
  for await (const line of lines) {
    yield `${separator}${JSON.stringify(line)}`;
    separator = ",";
  }
  yield "]}";
}

/** Lines are drawn together, so that the first screen is there at once. */
const blockLines = 100;

async function* formatTable(
  { head, end, creations, writes }: PlanFile,
  lines: Lines,
  draw: (block: PlanLine[]) => string[],
): AsyncGenerator<string> {
  const counts = Object.entries(end.counts).filter(([, contacts]) => contacts > 0);
  yield `Plan: ${formatCount(writes)} to write, ${end.digest}`;
  yield `Account: ${head.account.baseUrl}`;
  yield `Made: ${head.createdAt} by ecm ${head.program} (${head.kind})`;
  yield `Contacts: ${counts.map(([action, contacts]) => `${formatCount(contacts)} ${action}`).join(", ") || "none"}`;
  if (creations.length > 0) yield `Created first: ${listCreated(creations)}`;
  yield `Applying it: ${formatCounted(end.requests, "request")} and one look-up per 100 contacts`;
  let block: PlanLine[] = [];
  for await (const line of lines) {
    if (!isChange(line) || block.push(line) < blockLines) continue;
    yield* draw(block);
    block = [];
  }
  yield* draw(block);
}

/** For a comment on a pull request: what is written, in counts, and then, unless it is redacted, who and what. */
async function* formatMarkdown(
  { head, end, creations, writes }: PlanFile,
  lines: () => Lines,
  namesContacts: boolean,
): AsyncGenerator<string> {
  const parts = new Map<string, number>();
  for await (const { action, changes } of lines()) {
    if (action !== "update") continue;
    for (const { what, name } of changes) {
      const part = `${what} ${name}`;
      parts.set(part, (parts.get(part) ?? 0) + 1);
    }
  }
  yield `### Plan: ${formatCounted(writes, "contact")} to write\n`;
  yield* formatCounts("Action", Object.entries(end.counts));
  yield* formatCounts("Changed", [...parts]);
  for (const { what, name } of creations) yield `- Creates the ${what} ${escapeCell(JSON.stringify(name))}`;
  yield `- Account: ${escapeCell(head.account.baseUrl)}`;
  yield `- Made: ${head.createdAt} by ecm ${head.program} (${head.kind})`;
  yield `- Requests: ${formatCount(end.requests)}`;
  yield `- Digest: \`${end.digest}\``;
  if (!namesContacts) return;
  yield "\n| Contact | Action | Changes |\n| --- | --- | --- |";
  for await (const line of lines()) {
    if (isChange(line)) yield formatRow([line.key, line.action, formatChanges(line).join("; ")]);
  }
}

function* formatCounts(title: string, rows: readonly [string, number][]): Generator<string> {
  if (rows.length === 0) return;
  yield `| ${title} | Contacts |\n| --- | ---: |`;
  for (const [name, contacts] of rows) yield formatRow([name, formatCount(contacts)]);
  yield "";
}

function formatRow(cells: string[]): string {
  return `| ${cells.map(escapeCell).join(" | ")} |`;
}

/** Names are other people's text. */
function escapeCell(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#|!~]/g, "\\$&").replace(/\s+/g, " ");
}
