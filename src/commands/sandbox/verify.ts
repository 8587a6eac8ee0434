import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { writeAtomically } from "../../disk/atomic-file.ts";
import { exitCodes, UsageError } from "../../errors.ts";
import { readRecording } from "../../recording/read-recording.ts";
import type { StepDifference, VariantChoice } from "../../replay/replay.ts";
import type { Step } from "../../replay/steps.ts";
import type { Verification } from "../../replay/verify-recording.ts";
import { requireReplaceable } from "../../terminal/output-target.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { repeatableOption, writtenFileOption } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { readVariantFlags, type VariantFlags } from "./shared/flags.ts";

interface SandboxVerifyFlags extends VariantFlags {
  exitCode?: boolean;
  asVariant?: string;
}

/** One rule at one place of one endpoint, however often the sandbox answers otherwise there. */
interface Row {
  rule: string;
  endpoint: string;
  place: string;
  recorded: string;
  sandbox: string;
  times: number;
  /** Number of the first exchange, as `record show` has it. */
  first: number;
}

const view: View<Row> = {
  columns: [
    { name: "rule", value: ({ rule }) => rule },
    { name: "endpoint", value: ({ endpoint }) => endpoint, isWhole: true },
    { name: "place", value: ({ place }) => place },
    { name: "recorded", value: ({ recorded }) => recorded },
    { name: "sandbox", value: ({ sandbox }) => sandbox },
    { name: "times", value: ({ times }) => times },
    { name: "first", value: ({ first }) => first },
  ],
  id: ({ rule, endpoint }) => `${rule} ${endpoint}`,
};

export function registerSandboxVerify(parent: Command, context: Context): void {
  const command = parent
    .command("verify")
    .description("replay a recording; show where the sandbox answers otherwise")
    .argument("<file>", "made by ECM_RECORD=FILE")
    .option("--exit-code", "exit 9 when something differs")
    .addOption(
      writtenFileOption(
        "--as-variant <file>",
        "write the variants with which it would not differ, for --variant-file",
        "json",
      ),
    )
    .addOption(repeatableOption("--variant <name=value>", "compare with a sandbox that behaves so"))
    .option("--variant-file <file>", "variants from the member variants of a JSON file")
    .action((file: string, flags: SandboxVerifyFlags) => runSandboxVerify(context, file, flags));
  describeCommand(command, {
    isLocal: true,
    examples: [
      "ecm sandbox verify service.ndjson",
      "ecm sandbox verify service.ndjson --as-variant account.json",
      "ecm sandbox verify service.ndjson --variant-file account.json --exit-code",
    ],
    output:
      "One line per rule and place where the sandbox answers otherwise. Variants that explain it are named on stderr.",
    exitCodes: { 2: "the file cannot be read, or is no recording", 9: "with --exit-code: something differs" },
  });
}

async function runSandboxVerify(context: Context, file: string, flags: SandboxVerifyFlags): Promise<void> {
  const { terminal } = context;
  const { exchanges, unreadable } = readRecording(file);
  if (exchanges.length === 0) {
    throw new UsageError(`${file} holds no exchange`, "Record some with ECM_RECORD=FILE before a command");
  }
  if (flags.asVariant !== undefined)
    requireReplaceable(flags.asVariant, { isOwn: holdsOnlyVariants }, "--as-variant");
  const given = (await readVariantFlags(flags)) as VariantChoice;
  const { verifyRecording } = await import("../../replay/verify-recording.ts");
  const verification = await verifyRecording(exchanges, given, {
    now: context.clock.now(),
    signal: context.signal,
  });
  const { steps, differences, found } = verification;
  await presentList(terminal, context.output(), toRows(differences), view);
  if (unreadable > 0) {
    terminal.warn(`Left out ${formatCounted(unreadable, "line")} of ${file} that cannot be read`);
  }
  for (const sentence of describeLeftOut(steps)) terminal.warn(sentence);
  terminal.note(describeVerification(verification));
  if (flags.asVariant !== undefined) {
    const variants = { ...given, ...found.variants };
    await writeAtomically(flags.asVariant, `${JSON.stringify({ variants }, null, 2)}\n`);
    terminal.note(`Wrote the variants to ${flags.asVariant}`);
  }
  if (flags.exitCode && differences.length > 0) context.endWith(exitCodes.differs);
}

function holdsOnlyVariants(text: string): boolean {
  return /^\{\s*"variants": \{[^{}]*\}\s*\}\s*$/.test(text);
}

function toRows(differences: StepDifference[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { rule, place, recorded, sandbox, endpoint: asked, n } of differences) {
    const endpoint = rule === "limits" ? "every" : asked;
    // What differs from person to person is one line.
    const isOwn = ["values", "records", "order"].includes(rule);
    const name = JSON.stringify([rule, endpoint, place, ...(isOwn ? [] : [recorded, sandbox])]);
    const row = rows.get(name) ?? { rule, endpoint, place, recorded, sandbox, times: 0, first: n };
    rows.set(name, { ...row, times: row.times + 1 });
  }
  return [...rows.values()];
}

/** Why exchanges were not compared, each reason once. */
function describeLeftOut(steps: Step[]): string[] {
  const reasons = new Map<string, number>();
  for (const { leftOut } of steps) {
    if (leftOut !== undefined) reasons.set(leftOut, (reasons.get(leftOut) ?? 0) + 1);
  }
  return [...reasons].map(([why, count]) => `${formatCounted(count, "exchange")} not compared: ${why}`);
}

function describeVerification({ steps, differences, found }: Verification): string {
  const compared = formatCounted(steps.filter(({ leftOut }) => leftOut === undefined).length, "exchange");
  if (differences.length === 0) return `No differences in ${compared}`;
  const words = Object.entries(found.variants).map(([name, value]) => `--variant ${name}=${value}`);
  const counted = `${formatCounted(differences.length, "difference")} in ${compared}`;
  if (words.length === 0) return `${counted}; no variant explains any of them`;
  const left = found.differences.length;
  const rest =
    left === 0 ? "the sandbox would not differ" : `${formatCounted(left, "difference")} would remain`;
  const note =
    "search-lag" in found.variants ? ". How long a search lags cannot be seen from a recording" : "";
  return `${counted}. With ${words.join(" ")} ${rest}${note}`;
}
