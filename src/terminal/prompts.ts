/** Questions, on stderr, asked only of a person at a terminal. */
import { Writable } from "node:stream";
import { InterruptedError, UsageError } from "../errors.ts";
import { escapeControls } from "./escape.ts";
import { createPlainPrompter } from "./plain-prompts.ts";
import type { Terminal } from "./terminal.ts";

/** Whether anything may be asked: stdin and stderr are terminals, and nothing forbids it. */
export function canPrompt(terminal: Terminal, noInput: boolean): boolean {
  return !noInput && terminal.isStdinTerminal && terminal.isStderrTerminal;
}

export interface Choice<T> {
  name: string;
  value: T;
  /** What stands behind the question once it is chosen, in place of the name. */
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
  /** @param choices at least one; the first stands chosen until another is */
  select<T>(message: string, choices: Choice<T>[]): Promise<T>;
  /** Any number of them, none too. */
  checkbox<T>(message: string, choices: Choice<T>[]): Promise<T[]>;
}

/** @param signal ends an open question */
export function createPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const isPlain = terminal.isAccessible || terminal.env.TERM === "dumb";
  return safePrompter(
    isPlain ? createPlainPrompter(terminal, signal) : createDrawnPrompter(terminal, signal),
  );
}

/** What a question shows may come from the service or a file. */
function safePrompter(prompter: Prompter): Prompter {
  const safe = <T>(choices: Choice<T>[]) =>
    choices.map((choice) => ({
      ...choice,
      name: escapeControls(choice.name),
      short: escapeControls(choice.short ?? choice.name),
      description: choice.description && escapeControls(choice.description),
    }));
  return {
    confirm: (message) => prompter.confirm(escapeControls(message)),
    input: (message, initial, check) => prompter.input(escapeControls(message), initial, check),
    secret: (message) => prompter.secret(escapeControls(message)),
    select: (message, choices) => prompter.select(escapeControls(message), safe(choices)),
    checkbox: (message, choices) => prompter.checkbox(escapeControls(message), safe(choices)),
  };
}

type Inquirer = typeof import("@inquirer/prompts");
type PromptContext = NonNullable<Parameters<Inquirer["confirm"]>[1]>;

/** As many choices as stand on the screen at once. */
const pageSize = 12;

function createDrawnPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
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
        output: canvas(terminal),
        signal: AbortSignal.any([signal, ending.signal]),
        clearPromptOnDone: false,
      });
    } catch (error) {
      const name = (error as Error).name;
      if (name === "ExitPromptError" || name === "AbortPromptError") {
        throw signal.aborted ? signal.reason : new InterruptedError();
      }
      throw error;
    } finally {
      stdin.off("end", end).off("keypress", onKey);
    }
  };
  return {
    confirm: (message) => ask((inquirer, context) => inquirer.confirm({ message, default: false }, context)),
    input: (message, initial, check) =>
      ask((inquirer, context) => {
        const validate = (answer: string) => check?.(answer) ?? true;
        return inquirer.input({ message, default: initial, validate }, context);
      }),
    secret: (message) =>
      ask((inquirer, context) => inquirer.password({ message, mask: false, toggleMask: false }, context)),
    select: (message, choices) =>
      ask((inquirer, context) => inquirer.select({ message, choices, pageSize, loop: false }, context)),
    checkbox: (message, choices) =>
      ask((inquirer, context) => inquirer.checkbox({ message, choices, pageSize, loop: false }, context)),
  };
}

/** What questions are drawn on: stderr, without colours where none are wanted. It ends with the question; stderr does not. */
function canvas(terminal: Terminal): Writable & { columns?: number } {
  const { stderr, isColored } = terminal;
  const drawing = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      stderr.write(isColored.err ? text : withoutColours(String(text)));
      done();
    },
  });
  return Object.assign(drawing, { isTTY: true, columns: terminal.columns });
}

/** Movements of the cursor stay. */
function withoutColours(text: string): string {
  return text.replace(/\u001b\[[\d;]*m/g, "");
}

/** What a command throws when it would have to ask and may not. @param remedy the flag to pass */
export function mayNotAsk(what: string, remedy: string): UsageError {
  return new UsageError(`${what}, and nobody can be asked`, remedy, {
    type: "InputRequiredError",
  });
}
