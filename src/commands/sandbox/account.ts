import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { AccountView } from "../../sandbox/admin.ts";
import type { View } from "../../terminal/present.ts";
import { wholeNumberOption } from "../flags/flags.ts";
import { declareLocal, localVerb } from "./shared.ts";

const accountView: View<AccountView> = {
  columns: [
    { name: "status", value: (account) => account.status },
    { name: "monthly limit", value: (account) => account.monthlyLimit },
    { name: "used this month", value: (account) => account.monthlyUsed },
  ],
  id: (account) => account.status,
};

export function registerSandboxAccount(parent: Command, context: Context): void {
  const command = declareLocal(
    parent,
    "account",
    "show or change the sandbox's account: its status and monthly limit",
  )
    .option(
      "--status <status>",
      "open and pending_cancel have API access; suspended, past_due and terminated have none",
    )
    .addOption(wholeNumberOption("--monthly-limit <n>", "requests per calendar month, UTC", 0));
  localVerb(context, command, {
    examples: ["ecm sandbox account", "ecm sandbox account --status suspended"],
    output: "The account: status, monthlyLimit, monthlyUsed. Takes effect in a running sandbox at once.",
    view: accountView,
    act: (admin, { status, monthlyLimit }) => admin.account({ status, monthlyLimit }),
  });
}
