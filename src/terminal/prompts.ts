/** Questions, on stderr, asked only of a person at a terminal. */
import { UsageError } from "../errors.ts";
import { escapeControls } from "./escape.ts";
import type { Choice, Prompter } from "./prompter.ts";
import type { Terminal } from "./terminal.ts";

/** Whether anything may be asked: stdin and stderr are terminals, and nothing forbids it. */
export function canPrompt(terminal: Terminal, noInput: boolean): boolean {
  return !noInput && terminal.isStdinTerminal && terminal.isStderrTerminal;
}

/** @param signal ends an open question */
export function createPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const isPlain = terminal.isAccessible || terminal.env.TERM === "dumb";
  const openPrompter = async () =>
    isPlain
      ? (await import("./plain-prompts.ts")).createPlainPrompter(terminal, signal)
      : (await import("./drawn-prompts.ts")).createDrawnPrompter(terminal, signal);
  return {
    confirm: async (message) => (await openPrompter()).confirm(escapeControls(message)),
    input: async (message, initial, check) =>
      (await openPrompter()).input(escapeControls(message), initial, check),
    secret: async (message) => (await openPrompter()).secret(escapeControls(message)),
    select: async (message, choices, initial) =>
      (await openPrompter()).select(escapeControls(message), choices.map(toSafeChoice), initial),
    reselect: async (message, choices, initial) =>
      (await openPrompter()).reselect(escapeControls(message), choices.map(toSafeChoice), initial),
    chooseLine: async (table) =>
      (await openPrompter()).chooseLine({
        ...table,
        message: escapeControls(table.message),
        lines: table.lines.map((line) => line.map(escapeControls)),
      }),
    chooseKey: async (message, choices) => (await openPrompter()).chooseKey(escapeControls(message), choices),
    checkbox: async (message, choices) =>
      (await openPrompter()).checkbox(escapeControls(message), choices.map(toSafeChoice)),
  };
}

/** What a question shows may come from the service or a file. */
function toSafeChoice<T>(choice: Choice<T>): Choice<T> {
  const { name, short = name, description } = choice;
  return {
    ...choice,
    name: escapeControls(name),
    short: escapeControls(short),
    description: description && escapeControls(description),
  };
}

/** What a command throws when it would have to ask and may not. @param remedy the flag to pass */
export function cannotAskError(what: string, remedy: string): UsageError {
  return new UsageError(`${what}, and there is no terminal to ask at`, remedy, {
    type: "InputRequiredError",
  });
}
