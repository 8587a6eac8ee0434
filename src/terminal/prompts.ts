/** Questions, on stderr, asked only of a person at a terminal. */
import { UsageError } from "../errors.ts";
import { escapeControls } from "./escape.ts";
import type { Terminal } from "./terminal.ts";

/** Whether anything may be asked: stdin and stderr are terminals, and nothing forbids it. */
export function canPrompt(terminal: Terminal, noInput: boolean): boolean {
  return !noInput && terminal.isStdinTerminal && terminal.isStderrTerminal;
}

export interface Choice<T> {
  name: string;
  value: T;
  /** Shown after the question once it is chosen, instead of the name. */
  short?: string;
  description?: string;
}

/** What is wrong with an answer, for the person who gave it; undefined when nothing is. */
export type Check = (answer: string) => string | undefined;

export interface Prompter {
  /** Asks yes or no; the default is no. */
  confirm(message: string): Promise<boolean>;
  /** @param initial taken when nothing is typed */
  input(message: string, initial?: string, check?: Check): Promise<string>;
  /** Nothing is echoed. */
  secret(message: string): Promise<string>;
  /** @param choices at least one; the first is preselected */
  select<T>(message: string, choices: Choice<T>[]): Promise<T>;
  /** Any number of them, none too. */
  checkbox<T>(message: string, choices: Choice<T>[]): Promise<T[]>;
}

/** @param signal ends an open question */
export function createPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const isPlain = terminal.isAccessible || terminal.env.TERM === "dumb";
  const prompter = async () =>
    isPlain
      ? (await import("./plain-prompts.ts")).createPlainPrompter(terminal, signal)
      : (await import("./drawn-prompts.ts")).createDrawnPrompter(terminal, signal);
  return {
    confirm: async (message) => (await prompter()).confirm(escapeControls(message)),
    input: async (message, initial, check) =>
      (await prompter()).input(escapeControls(message), initial, check),
    secret: async (message) => (await prompter()).secret(escapeControls(message)),
    select: async (message, choices) => (await prompter()).select(escapeControls(message), choices.map(safe)),
    checkbox: async (message, choices) =>
      (await prompter()).checkbox(escapeControls(message), choices.map(safe)),
  };
}

/** What a question shows may come from the service or a file. */
function safe<T>(choice: Choice<T>): Choice<T> {
  const { name, short = name, description } = choice;
  return {
    ...choice,
    name: escapeControls(name),
    short: escapeControls(short),
    description: description && escapeControls(description),
  };
}

/** What a command throws when it would have to ask and may not. @param remedy the flag to pass */
export function mayNotAsk(what: string, remedy: string): UsageError {
  return new UsageError(`${what}, and there is no terminal to ask at`, remedy, {
    type: "InputRequiredError",
  });
}
