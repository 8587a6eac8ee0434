import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import type { RecordedExchange } from "../../recording/exchange.ts";
import { readRecording } from "../../recording/read-recording.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { describeCommand } from "../shared/help-text.ts";

type Row = RecordedExchange & { n: number };

const view: View<Row> = {
  columns: [
    { name: "n", value: ({ n }) => n },
    { name: "method", value: ({ method }) => method },
    { name: "path", value: ({ path, query = [] }) => `${path}${formatQuery(query)}`, isWhole: true },
    { name: "status", value: ({ status }) => status ?? "none" },
    { name: "error", value: ({ answer }) => findErrorType(answer) },
    { name: "sent", value: ({ body }) => listMembers(body) },
    { name: "answered", value: ({ answer }) => listMembers(answer) },
    { name: "body", value: ({ body }) => (body === undefined ? "" : JSON.stringify(body)), optional: true },
    {
      name: "answer",
      value: ({ answer }) => (answer === undefined ? "" : JSON.stringify(answer)),
      optional: true,
    },
  ],
  id: ({ n }) => String(n),
};

export function registerRecordShow(parent: Command, context: Context): void {
  const command = parent
    .command("show")
    .description("show what is in a recording, before you share it")
    .argument("<file>", "made by ECM_RECORD=FILE")
    .action((file: string) => runRecordShow(context, file));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm record show service.ndjson", "ecm record show service.ndjson --json"],
    output:
      "One line per exchange. JSON is all that the file holds of it; columns body and answer show it in the other formats. Addresses, names, values and ids in it are pseudonyms.",
    exitCodes: { 2: "the file cannot be read, or is no recording" },
  });
}

async function runRecordShow(context: Context, file: string): Promise<void> {
  const { exchanges, unreadable } = readRecording(file);
  const rows = exchanges.map((exchange, index) => ({ n: index + 1, ...exchange }));
  await presentList(context.terminal, context.output(), rows, view);
  const { terminal } = context;
  terminal.note(
    `${formatCounted(exchanges.length, "exchange")}. person-…@example.com, text-… and ids stand for addresses, other texts and ids; every time is the same one, and numbers that are no page, total, version or limit are 0`,
  );
  if (unreadable > 0) terminal.warn(`${formatCounted(unreadable, "line")} cannot be read and are left out`);
}

function formatQuery(query: [string, string][]): string {
  return query.length === 0 ? "" : `?${query.map(([name, value]) => `${name}=${value}`).join("&")}`;
}

function findErrorType(answer: unknown): string | undefined {
  const { errors } = (answer ?? {}) as { errors?: { errorType?: unknown }[] };
  const type = Array.isArray(errors) ? errors[0]?.errorType : undefined;
  return typeof type === "string" ? type : undefined;
}

/** The names of members, of an array those of its first element. */
function listMembers(value: unknown): string | undefined {
  if (Array.isArray(value)) return `[${listMembers(value[0]) ?? ""}]`;
  if (typeof value !== "object" || value === null) return undefined;
  return Object.keys(value).join(", ");
}
