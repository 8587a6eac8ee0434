import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { verifyChained } from "../../disk/chained-file.ts";
import { EcmError, exitCodes } from "../../errors.ts";
import { presentValue } from "../../terminal/present.ts";
import { requireAuditFile } from "../shared/audit.ts";
import { describeCommand } from "../shared/help-text.ts";

export function registerAuditVerify(parent: Command, context: Context): void {
  const command = parent
    .command("verify")
    .description("check that no line of the record was changed, taken out or put in")
    .option("--head <hash>", "a hash that was kept elsewhere, such as audit of a summary, must be in it")
    .action((flags: { head?: string }) => runAuditVerify(context, flags));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm audit verify", "ecm audit verify --head sha256:4f1c…"],
    output:
      "{ file, lines, head, torn, mended }: the newest hash, bytes of a line that a killed process left, and how many such were mended. That the newest lines were cut off shows with --head alone.",
    exitCodes: { 1: "the chain is broken, or does not have the hash" },
  });
}

async function runAuditVerify(context: Context, { head }: { head?: string }): Promise<void> {
  const file = requireAuditFile(context);
  const { isHeadIn, brokenAt, ...state } = await verifyChained(file, head);
  if (brokenAt !== null) {
    throw new EcmError(exitCodes.failed, `${file}: line ${brokenAt} does not follow from the one before`, {
      type: "AuditBrokenError",
      hint: "It was changed there or above; compare with a copy elsewhere",
    });
  }
  if (!isHeadIn) {
    throw new EcmError(
      exitCodes.failed,
      `${file} does not have the hash ${head}: lines are missing at its end`,
      {
        type: "AuditBrokenError",
        hint: "Compare with a copy elsewhere",
      },
    );
  }
  if (state.torn > 0)
    context.terminal.warn(
      `The last line is unfinished (${state.torn} bytes); the next command takes it away`,
    );
  const text = `${state.lines} lines, whole. Newest:\n${state.head}`;
  await presentValue(context.terminal, context.output(), { file, ...state }, text);
}
