/** The one question of a bulk run that changes contacts, between its price and its first write. */
import type { Price } from "../../bulk/engine/estimate.ts";
import type { Context } from "../../context.ts";
import { DeclinedError } from "../../errors.ts";
import { mayNotAsk, type Prompter } from "../../terminal/prompts.ts";
import type { RunDisplay } from "./progress.ts";
import { aboutDuration, counted } from "./words.ts";

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
  return async (price) => {
    const { left } = price;
    const prompter = context.settings.yes ? undefined : context.prompter();
    if (!prompter) return requireAnswer(context, danger, false);
    await display.whileAsking(async () => {
      const isAgreed =
        danger === "delete"
          ? await deletionAgreed(prompter, left)
          : await prompter.confirm(await questionFor(context, danger, price));
      if (!isAgreed) throw new DeclinedError();
    });
  };
}

/** A number to be typed for several, a yes for one. @throws DeclinedError on anything else */
export async function agreeToDelete(context: Context, display: RunDisplay, count: number): Promise<void> {
  const prompter = context.settings.yes ? undefined : context.prompter();
  if (!prompter) return requireAnswer(context, "delete", false);
  const isAgreed = await display.whileAsking(() => deletionAgreed(prompter, count));
  if (!isAgreed) throw new DeclinedError();
}

async function deletionAgreed(prompter: Prompter, count: number): Promise<boolean> {
  if (count === 1) return prompter.confirm("Permanently delete 1 contact?");
  return isNumber(await prompter.input(`Type ${count} to permanently delete ${contacts(count)}`), count);
}

async function questionFor(context: Context, danger: Danger, price: Price): Promise<string> {
  const { left, writes, estimate } = price;
  if (danger === "unsubscribe") {
    return `Unsubscribe ${contacts(writes ?? left)}? They cannot be resubscribed through the API.`;
  }
  const { name, baseUrl } = await context.profile();
  const cost = `${counted(left, "request")}, ${aboutDuration(estimate.seconds)}`;
  const place = JSON.stringify(name?.value ?? baseUrl.value);
  return writes === undefined
    ? `Write to ${place} (up to ${cost})?`
    : `Write to ${contacts(writes)} in ${place} (${cost})?`;
}

function contacts(count: number): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? "contact" : "contacts"}`;
}

/** Digits may be grouped, as the question shows them. */
function isNumber(answer: string, wanted: number): boolean {
  return answer.replace(/[\s,.'_]/g, "") === String(wanted);
}
