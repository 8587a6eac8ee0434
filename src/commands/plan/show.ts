import { type Command, Option } from "@commander-js/extra-typings";
import type { PlanFile, PlanLine } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { escapeMarkdown } from "../../terminal/escape.ts";
import { isJson } from "../../terminal/format.ts";
import { drawDifference, formatChanges, isChange } from "../bulk/plan.ts";
import { listCreated } from "../bulk/words.ts";
import { verb } from "../verb.ts";

export function register(group: Command, context: Context): void {
  const command = group
    .command("show")
    .description("show a plan file: what it would write, for a reviewer or a pull request")
    .argument("<file>", "written by --dry-run --plan FILE")
    .option("--redact", "line numbers in place of addresses, and no values")
    .addOption(
      new Option("-o, --output <format>", "format: markdown is for a pull request").choices([
        "table",
        "json",
        "markdown",
      ] as const),
    );
  verb(context, command, {
    examples: ["ecm plan show plan.ndjson", "ecm plan show plan.ndjson --redact -o markdown > comment.md"],
    output: "The plan; with -o json one object whose `lines` are the contacts.",
    isLocal: true,
    exitCodes: { 2: "not a plan, or one that was changed, cut off or made by an incompatible version" },
    async run(file, flags) {
      const [{ openPlanFile }, { createPlanRedactor }] = await Promise.all([
        import("../../bulk/index.ts"),
        import("../bulk/report.ts"),
      ]);
      const plan = await openPlanFile(file);
      async function* lines(): AsyncGenerator<PlanLine> {
        const redact = flags.redact ? createPlanRedactor() : (line: PlanLine) => line;
        for await (const line of plan.shownLines()) yield redact(line);
      }
      if (flags.output === "markdown") return { pieces: formatMarkdown(plan, lines, !flags.redact) };
      if (isJson(context.output().format)) return { pieces: formatJson(plan, lines()) };
      const draw = (block: PlanLine[]) => drawDifference(context.terminal, block, "out");
      return { pieces: formatTable(plan, lines(), draw) };
    },
  });
}

type Lines = AsyncGenerator<PlanLine>;

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

/** What is told of all of a plan. */
function describePlan({ head, end, creations, writes }: PlanFile): [title: string, text: string][] {
  const counts = Object.entries(end.counts).filter(([, contacts]) => contacts > 0);
  const rows: [string, string][] = [
    ["Plan", `${formatCount(writes)} to write, ${end.digest}`],
    ["Account", head.account.baseUrl],
    ["Made", `${head.createdAt} by ecm ${head.program} (${head.kind})`],
    [
      "Contacts",
      counts.map(([action, contacts]) => `${formatCount(contacts)} ${action}`).join(", ") || "none",
    ],
    ["Created first", listCreated(creations)],
    ["Applying it", `${formatCounted(end.requests, "request")} and one look-up per 100 contacts`],
  ];
  return rows.filter(([, text]) => text !== "");
}

/** Lines are drawn together, so that the first screen is there at once. */
const blockLines = 100;

async function* formatTable(
  plan: PlanFile,
  lines: Lines,
  draw: (block: PlanLine[]) => string[],
): AsyncGenerator<string> {
  for (const [title, text] of describePlan(plan)) yield `${title}: ${text}`;
  let block: PlanLine[] = [];
  for await (const line of lines) {
    if (!isChange(line) || block.push(line) < blockLines) continue;
    yield* draw(block);
    block = [];
  }
  yield* draw(block);
}

/** For a comment on a pull request: counts of what is written, then who and what, unless it is redacted. */
async function* formatMarkdown(
  plan: PlanFile,
  lines: () => Lines,
  namesContacts: boolean,
): AsyncGenerator<string> {
  const parts = new Map<string, number>();
  for await (const { action, changes } of lines()) {
    if (action !== "update") continue;
    for (const { what, name } of changes)
      parts.set(`${what} ${name}`, (parts.get(`${what} ${name}`) ?? 0) + 1);
  }
  yield `### Plan: ${formatCounted(plan.writes, "contact")} to write\n`;
  for (const [title, text] of describePlan(plan)) yield `- ${title}: ${escapeMarkdown(text)}`;
  for (const [part, contacts] of parts) yield `- Changed: ${escapeMarkdown(part)} (${formatCount(contacts)})`;
  if (!namesContacts) return;
  yield "\n| Contact | Action | Changes |\n| --- | --- | --- |";
  for await (const line of lines()) {
    const cells = [line.key, line.action, formatChanges(line).join("; ")];
    if (isChange(line)) yield `| ${cells.map(escapeMarkdown).join(" | ")} |`;
  }
}
