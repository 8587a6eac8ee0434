/** Asks for what is missing on the command line; without a terminal, an error that names it. */

import type { Context } from "../../context.ts";
import { notFoundError, usageError } from "../../errors.ts";
import { advise, type Hint } from "../../hint.ts";
import type { Choice, Prompter } from "../../terminal/prompts.ts";

export interface MissingArgument {
  /** What a person is asked for, such as `Name of the list`. */
  what: string;
  /** The whole command with the missing word in it, such as `ecm lists create NAME`. */
  usage: Hint;
}

/**
 * The word that was given, else the text that a person types, without blanks around it.
 * @throws UsageError for a blank one, and where nobody can be asked
 */
export async function requireText(
  context: Context,
  typedText: string | undefined,
  missing: MissingArgument,
): Promise<string> {
  if (typedText === undefined)
    return (await requirePrompter(context, missing).input(missing.what, undefined, checkText)).trim();
  if (typedText.trim() !== "") return typedText;
  throw usageError(`${missing.what} must be text that is not blank`, advise`Name it: ${missing.usage}`);
}

/**
 * The word that was given, else the one that a person chooses.
 * @param choices asked for only then
 * @throws UsageError where nobody can be asked; NotFoundError when there is nothing to choose from
 */
export async function requireChoice(
  context: Context,
  typedChoice: string | undefined,
  missing: MissingArgument,
  choices: () => Promise<Choice<string>[]>,
): Promise<string> {
  if (typedChoice !== undefined) return typedChoice;
  return requirePrompter(context, missing).select(missing.what, await readChoices(choices, missing));
}

/** `requireChoice` for several words. @throws UsageError when a person chooses none */
export async function requireChoices(
  context: Context,
  typedChoices: string[],
  missing: MissingArgument,
  choices: () => Promise<Choice<string>[]>,
): Promise<string[]> {
  if (typedChoices.length > 0) return typedChoices;
  return requirePrompter(context, missing).checkbox(missing.what, await readChoices(choices, missing));
}

/** @throws UsageError where nobody can be asked */
function requirePrompter(context: Context, { what, usage }: MissingArgument): Prompter {
  const prompter = context.prompter();
  if (prompter) return prompter;
  throw usageError(`${what} is missing`, advise`Name it: ${usage}`);
}

async function readChoices(choices: () => Promise<Choice<string>[]>, { what }: MissingArgument) {
  const found = await choices();
  if (found.length > 0) return found;
  throw notFoundError(`${what} is missing, and there is nothing to choose from`);
}

/** Things with an id as choices: what is chosen is the id, which no other name can be taken for. */
export function toChoices<T extends { _id: string; name?: string; label?: string }>(
  things: readonly T[],
): Choice<string>[] {
  return things.map(({ _id, name, label }) => ({ name: name ?? label ?? _id, value: _id }));
}

/** The answer to a question that needs one. */
export function checkText(answer: string): string | undefined {
  return answer.trim() === "" ? "Enter a value (Ctrl-C to cancel)" : undefined;
}
