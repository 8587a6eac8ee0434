import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import type { LoggedRequest } from "../../sandbox/public-types.ts";
import { presentList, toColumns, type View } from "../../terminal/present.ts";
import { addOutputFileFlags, wholeNumberOption } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { declareLocal, followRequests, withAdmin } from "./shared.ts";

const requestView: View<LoggedRequest> = {
  columns: [
    ...toColumns<LoggedRequest>("n", "time", "method"),
    { name: "path", value: (request) => request.path, isWhole: true },
    ...toColumns<LoggedRequest>("status", "milliseconds", "fault"),
    { name: "body", value: (request) => formatValue(request.body), optional: true },
    { name: "answer", value: (request) => formatValue(request.answer), optional: true },
  ],
  id: (request) => String(request.n),
  empty: "No requests",
};

export function registerSandboxRequests(parent: Command, context: Context): void {
  const command = declareLocal(
    parent,
    "requests",
    "show the requests that the sandbox answered, oldest first",
  )
    .option("--since <time|n>", "only from this time on, or after the request with this number")
    .option("--method <method>", "only requests with this method")
    .option("--path <path>", "only requests to this path; * matches any part of it")
    .option("--status <status>", "only answers with this status, such as 404 or 4xx")
    .addOption(wholeNumberOption("--limit <n>", "only the newest N"))
    .option("--follow", "wait for further requests and show each as it is answered, until Ctrl-C")
    .option("--clear", "empty the log");
  verb(context, addOutputFileFlags(command), {
    isLocal: true,
    examples: [
      "ecm sandbox requests --status 4xx",
      'ecm sandbox requests --path "/api/contact/*/mutate" --json',
      "ecm sandbox requests --follow --columns method,path,status,body",
    ],
    output:
      "The newest 10,000 requests. JSON has headers (the key masked), bodies and answers too; columns body and answer show them in the other formats. With --clear nothing.",
    async run({ data, follow, clear, ...flags }) {
      if (clear && (follow || Object.keys(flags).length > 0)) {
        throw usageError("--clear empties the whole log and cannot be used with other flags");
      }
      const { outputFile, bom, safeCells, ...query } = flags;
      if (follow && outputFile !== undefined) {
        throw usageError(
          "--output-file is complete before it appears, and --follow never ends",
          "Leave out one of them, or write the lines with > FILE",
        );
      }
      await withAdmin(context, { data }, async (admin) => {
        if (clear) return admin.requests.clear();
        // A table is drawn once all rows are known; lines are written one by one.
        const output = context.output({ outputFile, bom, safeCells }, follow ? "tsv" : undefined);
        const requests = follow ? followRequests(context, admin, query) : admin.requests(query);
        await presentList(context.terminal, output, requests, requestView);
      });
    },
  });
}

function formatValue(value: unknown): string | undefined {
  if (value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
