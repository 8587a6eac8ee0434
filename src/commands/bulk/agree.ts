/** The one question of a bulk run that changes contacts, between its price and its first write. */
import type { Price } from "../../bulk/engine/estimate.ts";
import type { Context } from "../../context.ts";
import { DeclinedError } from "../../errors.ts";
import { mayNotAsk } from "../../terminal/prompts.ts";
import type { RunDisplay } from "./progress.ts";

export type Danger = "change" | "unsubscribe" | "delete";

/** Before anything is sent. @throws UsageError where nobody can be asked and `--yes` is not given */
export function requireAnswer(context: Context, danger: Danger, isDryRun: boolean): void {
  if (danger === "change" || isDryRun || context.settings.yes || context.prompter()) return;
  throw mayNotAsk(
    danger === "delete" ? "A deletion must be confirmed" : "This must be confirmed",
    "Confirm with --yes",
  );
}

/** @throws DeclinedError on a no */
export function agreementFor(
  context: Context,
  display: RunDisplay,
  danger: Danger,
): (price: Price) => Promise<void> {
  return async ({ left, estimate }) => {
    const prompter = context.settings.yes ? undefined : context.prompter();
    if (!prompter) return requireAnswer(context, danger, false);
    await display.whileAsking(async () => {
      const isAgreed =
        danger === "delete" && left > 1
          ? isNumber(await prompter.input(`Type ${left} to delete ${contacts(left)} for good`), left)
          : await prompter.confirm(questionFor(danger, left, estimate.isExact));
      if (!isAgreed) throw new DeclinedError();
    });
  };
}

function questionFor(danger: Danger, left: number, isExact: boolean): string {
  if (danger === "delete") return `Delete ${contacts(left)} for good?`;
  if (danger === "unsubscribe") {
    return `Unsubscribe ${contacts(left)}? The service takes nobody back by API.`;
  }
  return isExact ? `Change ${contacts(left)}?` : `Send up to ${left.toLocaleString("en-US")} requests?`;
}

function contacts(count: number): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? "contact" : "contacts"}`;
}

/** Digits may be grouped, as the question shows them. */
function isNumber(answer: string, wanted: number): boolean {
  return answer.replace(/[\s,.'_]/g, "") === String(wanted);
}
