import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { type DnsRecord, dnsRecords, fetchDomains, findDomain } from "../../service/domains.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { isForPeople } from "../../terminal/format.ts";
import { checkColumns, hasColumns, presentList, presentOne } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { recordId, toCell } from "../shared/record-columns.ts";
import { dnsRecordView, domainView, wholeDomain } from "./shared/view.ts";

export function registerDomainsGet(parent: Command, context: Context): void {
  const command = parent
    .command("get")
    .description("show one sending domain, and what is missing in DNS")
    .argument("<domain>", "its name or id")
    .action((wanted: string, flags: OutputFileFlags) => runDomainsGet(context, wanted, flags));
  describeCommand(addOutputFileFlags(command), {
    examples: ["ecm domains get example.com", "ecm domains get example.com -o csv"],
    output:
      "The domain, then each DNS record that is missing as a line to copy: type, name, value. In csv and tsv one row per DNS record; in JSON formats the service's own object.",
  });
}

async function runDomainsGet(context: Context, wanted: string, flags: OutputFileFlags): Promise<void> {
  const { terminal } = context;
  const output = context.output(flags);
  checkColumns(output, dnsRecordView);
  const { send } = await context.connect();
  const domain = findDomain(await fetchDomains(send), wanted);
  const records = dnsRecords(domain);
  if (!hasColumns(output)) return presentOne(terminal, output, domain, { columns: [], id: recordId });
  if (!isForPeople(output)) {
    await presentList(terminal, output, records, dnsRecordView);
    return;
  }
  await presentOne(terminal, output, domain, { ...domainView, columns: wholeDomain(domain) });
  const missing = records.filter(({ isMissing }) => isMissing);
  if (missing.length > 0)
    await terminal.write(`\nMissing in DNS (type, name, value):\n${formatRecords(missing)}`);
}

/** Never cut: they are copied. */
function formatRecords(records: readonly DnsRecord[]): string {
  const rows = records.map(({ type, name, value }) =>
    [type, name, value].map((cell) => escapeControls(String(toCell(cell) ?? ""))),
  );
  return rows.map((row) => `${row.join("  ")}\n`).join("");
}
