import { type Command, Option } from "commander";
import type { Context } from "../../context.ts";
import type { AccountView } from "../../sandbox/owner.ts";
import { presentOne, type View } from "../../terminal/present.ts";
import { type DataFlag, dataOption, wholeNumber } from "./flags.ts";
import { withOwner } from "./keys.ts";

interface AccountFlags extends DataFlag {
  status?: string;
  monthlyLimit?: string;
}

const accountView: View<AccountView> = {
  columns: [
    { name: "status", value: (account) => account.status },
    { name: "monthly limit", value: (account) => account.monthlyLimit },
    { name: "used this month", value: (account) => account.monthlyUsed },
  ],
  id: (account) => account.status,
};

export function registerSandboxAccount(parent: Command, context: Context): void {
  parent
    .command("account")
    .description("show the sandbox's account, or change its standing and its month")
    .addOption(
      new Option(
        "--status <status>",
        "open or pending_cancel have API access; suspended, past_due or terminated have none",
      ),
    )
    .option("--monthly-limit <n>", "requests per calendar month, UTC")
    .addOption(dataOption())
    .addHelpText("after", "\nExample:\n  ecm sandbox account --status suspended")
    .action((flags: AccountFlags) => runSandboxAccount(context, flags));
}

async function runSandboxAccount(context: Context, flags: AccountFlags): Promise<void> {
  const monthlyLimit = wholeNumber("--monthly-limit", flags.monthlyLimit);
  const { status } = flags;
  const account = await withOwner(context, flags, (owner) =>
    status === undefined && monthlyLimit === undefined
      ? owner.account()
      : owner.setAccount({ status, monthlyLimit }),
  );
  await presentOne(context.terminal, context.output(), account, accountView);
}
