/** Questions drawn on the screen: choices under the cursor keys, answers checked as they are given. */
import { Writable } from "node:stream";
import { InterruptedError } from "../errors.ts";
import { fitMessage } from "./message-lines.ts";
import type { Prompter } from "./prompter.ts";
import type { Terminal } from "./terminal.ts";

type Inquirer = typeof import("@inquirer/prompts");
type PromptContext = NonNullable<Parameters<Inquirer["confirm"]>[1]>;

/** Choices visible at once. */
const pageSize = 12;

/** @param signal ends an open question */
export function createDrawnPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const { stdin } = terminal;
  const ask = async <T>(question: (inquirer: Inquirer, context: PromptContext) => Promise<T>): Promise<T> => {
    const inquirer = await import("@inquirer/prompts");
    // Without this a question whose input ends (Ctrl-D) is never
    // settled, and the process ends as if all were well.
    const ending = new AbortController();
    const end = () => ending.abort();
    const onKey = (_text: unknown, key?: { ctrl?: boolean; name?: string }) => {
      if (key?.ctrl && key.name === "d") end();
    };
    stdin.on("end", end).on("keypress", onKey);
    try {
      return await question(inquirer, {
        input: stdin,
        output: createCanvas(terminal),
        signal: AbortSignal.any([signal, ending.signal]),
        clearPromptOnDone: false,
      });
    } catch (error) {
      const name = (error as Error).name;
      if (name === "ExitPromptError" || name === "AbortPromptError") {
        throw signal.aborted ? signal.reason : InterruptedError.atQuestion();
      }
      throw error;
    } finally {
      stdin.off("end", end).off("keypress", onKey);
    }
  };
  // The library breaks lines within words. Its mark precedes the question, and the answer follows it.
  const fitted = (message: string) =>
    fitMessage(message, terminal.stderrColumns - " (y/N) ".length, "? ".length);
  return {
    confirm: (message) =>
      ask((inquirer, context) => inquirer.confirm({ message: fitted(message), default: false }, context)),
    input: (message, initial, check) =>
      ask((inquirer, context) => {
        const validate = (answer: string) => check?.(answer) ?? true;
        return inquirer.input({ message: fitted(message), default: initial, validate }, context);
      }),
    secret: (message) =>
      ask((inquirer, context) => inquirer.password({ message, mask: false, toggleMask: false }, context)),
    select: (message, choices) =>
      ask((inquirer, context) =>
        inquirer.select({ message: fitted(message), choices, pageSize, loop: false }, context),
      ),
    checkbox: (message, choices) =>
      ask((inquirer, context) =>
        inquirer.checkbox({ message: fitted(message), choices, pageSize, loop: false }, context),
      ),
  };
}

/**
 * What questions are drawn on: stderr, without colours where none are wanted. It ends with the question;
 * stderr does not.
 */
function createCanvas(terminal: Terminal): Writable & { columns?: number } {
  const { stderr, isColored } = terminal;
  const drawing = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      stderr.write(isColored.err ? text : removeColors(String(text)));
      done();
    },
  });
  return Object.assign(drawing, { isTTY: true, columns: terminal.stderrColumns });
}

/** Movements of the cursor stay. */
function removeColors(text: string): string {
  return text.replace(/\u001b\[[\d;]*m/g, "");
}
