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

type Inquirer = typeof import("@inquirer/prompts");
type PromptContext = NonNullable<Parameters<Inquirer["confirm"]>[1]>;

/** @param signal ends an open question */
export function createPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const { stdin } = terminal;
  const ask = async <T>(question: (inquirer: Inquirer, context: PromptContext) => Promise<T>): Promise<T> => {
    const inquirer = await import("@inquirer/prompts");
    // Without this a question whose input ends (Ctrl-D) is never settled, and the process ends as if all were well.
    const ending = new AbortController();
    const end = () => ending.abort();
    const onKey = (_text: unknown, key?: { ctrl?: boolean; name?: string }) => {
      if (key?.ctrl && key.name === "d") end();
    };
    stdin.on("end", end).on("keypress", onKey);
    try {
      return await question(inquirer, {
        input: stdin,
        output: terminal.stderr,
        signal: AbortSignal.any([signal, ending.signal]),
        clearPromptOnDone: false,
      });
    } catch (error) {
      const name = (error as Error).name;
      if (name === "ExitPromptError" || name === "AbortPromptError") throw new InterruptedError();
      throw error;
    } finally {
      stdin.off("end", end).off("keypress", onKey);
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
      ask((inquirer, context) =>
        inquirer.confirm({ message: escapeControls(message), default: false }, context),
      ),
    input: (message, initial) =>
      ask((inquirer, context) =>
        inquirer.input({ message: escapeControls(message), default: initial }, context),
      ),
    secret: (message) =>
      ask((inquirer, context) => inquirer.password({ message, mask: false, toggleMask: false }, context)),
    select: (message, choices) =>
      ask((inquirer, context) =>
        inquirer.select({ message: escapeControls(message), choices: safe(choices) }, context),
      ),
    checkbox: (message, choices) =>
      ask((inquirer, context) =>
        inquirer.checkbox({ message: escapeControls(message), choices: safe(choices) }, context),
      ),
  };
}

/** What a command throws when it would have to ask and may not. @param remedy the flag to pass */
export function mayNotAsk(what: string, remedy: string): UsageError {
  return new UsageError(`${what}, and nobody can be asked`, remedy, {
    type: "InputRequiredError",
  });
}
