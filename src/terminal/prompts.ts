/**
 * Questions, on stderr, asked only of a person at a terminal: drawn on the screen, or as plain lines for
 * screen readers and simple terminals, where nothing is redrawn and choices are numbered.
 */

import { Writable } from "node:stream";
import { type EcmError, interruptedAtQuestion, usageError } from "../errors.ts";
import { createDrawnPrompter } from "./drawn-prompts.ts";
import { escapeControls } from "./escape.ts";
import { fitMessage } from "./message-lines.ts";
import type { Choice, KeyChoice, Prompter } from "./prompter.ts";
import type { Terminal } from "./terminal.ts";

/** Whether anything may be asked: stdin and stderr are terminals, and nothing forbids it. */
export function canPrompt(terminal: Terminal, noInput: boolean): boolean {
  return !noInput && terminal.isStdinTerminal && terminal.isStderrTerminal;
}

/**
 * What questions show may come from the service or a file: each of the two escapes it.
 * @param signal ends an open question
 */
export function createPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const isPlain = terminal.isAccessible || terminal.env.TERM === "dumb";
  return isPlain ? createPlainPrompter(terminal, signal) : createDrawnPrompter(terminal, signal);
}

/** What a command throws when it would have to ask and may not. @param remedy the flag to pass */
export function cannotAskError(what: string, remedy: string): EcmError {
  return usageError(`${what}, and there is no terminal to ask at`, remedy, {
    type: "InputRequiredError",
  });
}

/** The terminal itself echoes and edits what is typed, save a secret. @param signal ends an open question */
function createPlainPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const { stderr } = terminal;
  const fitted = (text: string) => fitMessage(escapeControls(text), terminal.stderrColumns);
  const say = (line: string) => stderr.write(`${fitted(line)}\n`);
  const ask = (question: string, isSecret = false): Promise<string> =>
    askForLine(terminal, `${fitted(question)} `, signal, isSecret);
  /** Asks again until the answer reads as something. */
  const askUntil = async <T>(
    question: string,
    read: (answer: string) => { value: T } | string,
  ): Promise<T> => {
    for (;;) {
      const result = read(await ask(question));
      if (typeof result !== "string") return result.value;
      say(result);
    }
  };
  const list = <T>(message: string, choices: Choice<T>[]) => {
    say(message);
    for (const [index, { name, description }] of choices.entries()) {
      say(`  ${index + 1}. ${name}${description ? ` (${description})` : ""}`);
    }
  };
  /** @param initial the place of the choice that is taken where nothing is typed */
  const askNumber = <T>(choices: Choice<T>[], initial = -1): Promise<T> => {
    const isEnterTaken = initial >= 0;
    const question = `Number, 1 to ${choices.length}${isEnterTaken ? ` (Enter: ${initial + 1})` : ""}:`;
    return askUntil(question, (answer) => {
      const typed = answer.trim();
      const chosen = isEnterTaken && typed === "" ? choices[initial] : findNumbered(typed, choices);
      return chosen ?? `There is no number ${JSON.stringify(answer)}.`;
    });
  };
  return {
    confirm: async (message) => /^y(es)?$/i.test((await ask(`${message} (y/N)`)).trim()),
    input: (message, initial, check) =>
      askUntil(`${message}${initial ? ` (${initial})` : ""}:`, (answer) => {
        const value = answer || initial || "";
        return check?.(value) ?? { value };
      }),
    async secret(message) {
      const answer = await ask(`${message} (not shown):`, true);
      say("");
      return answer;
    },
    select(message, choices, initial) {
      list(message, choices);
      return askNumber(
        choices,
        choices.findIndex(({ value }) => value === initial),
      );
    },
    chooseLine({ message, accept, columns, lines }) {
      const choices: Choice<number | undefined>[] = [
        { name: accept, value: undefined },
        ...lines.map((line, value) => ({ name: nameLine(line, columns), value })),
      ];
      list(message, choices);
      return askNumber(choices, 0);
    },
    chooseKey: (message, choices) => {
      const names = choices.map(({ key, name }) => `${key} ${name}`);
      return askUntil(`${message} (${names.join(", ")})`, (answer) => findKeyed(answer, choices));
    },
    checkbox(message, choices) {
      list(message, choices);
      return askUntil("Numbers, separated by spaces; empty for none:", (answer) => {
        const words = answer.split(/[\s,]+/).filter((word) => word !== "");
        const chosen = words.map((word) => findNumbered(word, choices));
        const wrong = words[chosen.indexOf(undefined)];
        if (wrong !== undefined) return `There is no number ${JSON.stringify(wrong)}.`;
        return { value: [...new Set(chosen.map((each) => each!.value))] };
      });
    },
  };
}

/** A line of a table as it is read aloud: each cell behind its column, the first one alone. */
function nameLine([first = "", ...others]: readonly string[], columns: readonly string[]): string {
  const cells = others.map((cell, at) => (cell === "" ? "" : `${columns[at + 1]} ${cell.trim()}`));
  return [first, ...cells].filter((cell) => cell !== "").join("; ");
}

/** The last choice where nothing is typed; what is wrong where none is meant. */
function findKeyed<T>(answer: string, choices: readonly KeyChoice<T>[]): { value: T } | string {
  const typed = answer.trim().toLowerCase();
  const found = choices.find(({ key, name }) => typed === key || typed === name);
  const chosen = typed === "" ? choices.at(-1) : found;
  return chosen ? { value: chosen.value } : `There is no answer ${JSON.stringify(answer)}.`;
}

function findNumbered<T>(word: string, choices: Choice<T>[]): { value: T } | undefined {
  return /^\d+$/.test(word) ? choices[Number(word) - 1] : undefined;
}

/**
 * One line of what is typed.
 * @throws InterruptedError when the input ends, or the signal's reason when it fires
 */
async function askForLine(
  { stdin, stderr }: Terminal,
  question: string,
  signal: AbortSignal,
  isSecret: boolean,
): Promise<string> {
  // Only as a terminal of its own can it keep what is typed from the screen.
  if (isSecret) stderr.write(question);
  const output = isSecret ? new Writable({ write: (_text, _encoding, done) => done() }) : stderr;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: stdin, output, terminal: isSecret });
  const ended = new Promise<never>((_resolve, reject) => {
    lines.once("close", () => reject(interruptedAtQuestion()));
  });
  // A terminal in raw mode sends Ctrl-C and Ctrl-D as characters.
  const onData = (typed: Buffer | string) => {
    if (/[\u0003\u0004]/.test(String(typed))) lines.close();
  };
  stdin.on("data", onData);
  try {
    return await Promise.race([lines.question(isSecret ? "" : question, { signal }), ended]);
  } catch (error) {
    // What follows begins a line of its own.
    stderr.write("\n");
    throw signal.aborted ? signal.reason : error;
  } finally {
    stdin.off("data", onData);
    lines.close();
  }
}
