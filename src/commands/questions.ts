/** Asks for what is missing on the command line; without a terminal, an error that names it. */
import type { Context } from "../context.ts";
import { NotFoundError, UsageError } from "../errors.ts";
import type { Choice, Prompter } from "../terminal/prompter.ts";
import { upperFirst } from "./bulk/words.ts";

export interface Missing {
  /** What a person is asked for, such as `Name of the list`. */
  question: string;
  /** The same for the error, such as `the list's name`. */
  what: string;
  /** The whole command with the missing word in it, such as `ecm lists create NAME`. */
  usage: string;
}

/** The word that was given, else the text that a person types, without blanks around it. @throws UsageError where nobody can be asked */
export async function textOr(context: Context, given: string | undefined, missing: Missing): Promise<string> {
  if (given !== undefined) return given;
  const typed = await requirePrompter(context, missing).input(missing.question, undefined, requireText);
  return typed.trim();
}

/**
 * The word that was given, else the one that a person chooses.
 * @param choices asked for only then
 * @throws UsageError where nobody can be asked; NotFoundError when there is nothing to choose from
 */
export async function choiceOr(
  context: Context,
  given: string | undefined,
  missing: Missing,
  choices: () => Promise<Choice<string>[]>,
): Promise<string> {
  if (given !== undefined) return given;
  const prompter = requirePrompter(context, missing);
  return prompter.select(missing.question, await someOf(choices, missing));
}

/** The same for several words. @throws UsageError when a person chooses none */
export async function choicesOr(
  context: Context,
  given: string[],
  missing: Missing,
  choices: () => Promise<Choice<string>[]>,
): Promise<string[]> {
  if (given.length > 0) return given;
  const prompter = requirePrompter(context, missing);
  return prompter.checkbox(missing.question, await someOf(choices, missing));
}

/** @throws UsageError where nobody can be asked */
export function requirePrompter(context: Context, { what, usage }: Missing): Prompter {
  const prompter = context.prompter();
  if (prompter) return prompter;
  throw new UsageError(`${upperFirst(what)} is missing`, `Name it: ${usage}`);
}

/** Things with an id as choices: what is chosen is the id, which no other name can be taken for. */
export function choicesOf<T extends { _id: string }>(
  things: readonly T[],
  nameOf: (thing: T) => string,
): Choice<string>[] {
  return things.map((thing) => ({ name: nameOf(thing), value: thing._id }));
}

/** The answer to a question that needs one. */
export function requireText(answer: string): string | undefined {
  return answer.trim() === "" ? "Enter a value (Ctrl-C to cancel)" : undefined;
}

async function someOf(choices: () => Promise<Choice<string>[]>, { what }: Missing) {
  const found = await choices();
  if (found.length > 0) return found;
  throw new NotFoundError(`${upperFirst(what)} is missing, and there is nothing to choose from`);
}
