/** Questions, on stderr, asked only of a person at a terminal. */
import { InterruptedError, UsageError } from "../errors.ts";
import { escapeControls } from "./escape.ts";
import type { Terminal } from "./terminal.ts";

/** Whether anything may be asked: stdin and stderr are terminals, and nothing forbids it. */
export function canPrompt(terminal: Terminal, noInput: boolean): boolean {
  return !noInput && terminal.isStdinTerminal && terminal.isStderrTerminal;
}

export interface Choice<T> {
  name: string;
  value: T;
  description?: string;
}

export interface Prompter {
  /** Asks yes or no; the default is no. */
  confirm(message: string): Promise<boolean>;
  input(message: string, initial?: string): Promise<string>;
  /** Nothing is echoed. */
  secret(message: string): Promise<string>;
  select<T>(message: string, choices: Choice<T>[]): Promise<T>;
  checkbox<T>(message: string, choices: Choice<T>[]): Promise<T[]>;
}

/** @param signal ends an open question */
export function createPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const context = { input: terminal.stdin, output: terminal.stderr, signal, clearPromptOnDone: false };
  const ask = async <T>(
    question: (inquirer: typeof import("@inquirer/prompts")) => Promise<T>,
  ): Promise<T> => {
    const inquirer = await import("@inquirer/prompts");
    try {
      return await question(inquirer);
    } catch (error) {
      const name = (error as Error).name;
      if (name === "ExitPromptError" || name === "AbortPromptError") throw new InterruptedError();
      throw error;
    }
  };
  const safe = <T>(choices: Choice<T>[]) =>
    choices.map((choice) => ({
      ...choice,
      name: escapeControls(choice.name),
      description: choice.description && escapeControls(choice.description),
    }));
  return {
    confirm: (message) =>
      ask((inquirer) => inquirer.confirm({ message: escapeControls(message), default: false }, context)),
    input: (message, initial) =>
      ask((inquirer) => inquirer.input({ message: escapeControls(message), default: initial }, context)),
    secret: (message) => ask((inquirer) => inquirer.password({ message, mask: false }, context)),
    select: (message, choices) =>
      ask((inquirer) =>
        inquirer.select({ message: escapeControls(message), choices: safe(choices) }, context),
      ),
    checkbox: (message, choices) =>
      ask((inquirer) =>
        inquirer.checkbox({ message: escapeControls(message), choices: safe(choices) }, context),
      ),
  };
}

/** What a command throws when it would have to ask and may not. @param remedy the flag to pass */
export function mayNotAsk(what: string, remedy: string): UsageError {
  return new UsageError(`${what}, and there is no terminal to ask at`, remedy, {
    type: "InputRequiredError",
  });
}
