/**
 * Questions, on stderr, asked only of a person at a terminal: drawn on the screen, or as plain lines for
 * screen readers and simple terminals, where nothing is redrawn and choices are numbered.
 */
import { Writable } from "node:stream";
import { type EcmError, interruptedAtQuestion, usageError } from "../errors.ts";
import { escapeControls } from "./escape.ts";
import { fitMessage } from "./message-lines.ts";
import type { Terminal } from "./terminal.ts";

export interface Choice<T> {
  name: string;
  value: T;
  /** Shown after the question once it is chosen, instead of the name. */
  short?: string;
  description?: string;
}

/** A table whose lines can be changed, one by one. */
export interface LineTable {
  message: string;
  /** What it means to take the table as it is. */
  accept: string;
  columns: readonly string[];
  /** A cell for each column. */
  lines: readonly (readonly string[])[];
}

/** An answer that is typed as one letter. */
export interface KeyChoice<T> {
  key: "y" | "n" | "c" | "l";
  name: string;
  value: T;
}

interface Usual<T> {
  /** Preselected, in place of the first choice. */
  initial?: T;
  /** The answer of Esc, where the question is drawn; without it, Esc does nothing. */
  onEscape?: T;
}

export interface Prompter {
  /** Asks yes or no; the default is no. */
  confirm(message: string): Promise<boolean>;
  /**
   * @param initial taken when nothing is typed
   * @param check what is wrong with an answer, for the person who gave it; undefined when nothing is
   */
  input(message: string, initial?: string, check?: (answer: string) => string | undefined): Promise<string>;
  /** Nothing is echoed. */
  secret(message: string): Promise<string>;
  /** @param choices at least one */
  select<T>(message: string, choices: Choice<T>[], usual?: Usual<T>): Promise<T>;
  /** @returns the place of the line that is to be changed; undefined where the table is taken as it is */
  chooseLine(table: LineTable): Promise<number | undefined>;
  /** Asks for a letter. @param choices the last is taken where nothing is typed */
  chooseKey<T>(message: string, choices: KeyChoice<T>[]): Promise<T>;
  /** Any number of choices may be taken, also none. */
  checkbox<T>(message: string, choices: Choice<T>[]): Promise<T[]>;
}

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
export function cannotAskError(terminal: Terminal, what: string, remedy: string): EcmError {
  const why = canPrompt(terminal, false) ? "--no-input forbids questions" : "there is no terminal to ask at";
  return usageError(`${what}, and ${why}`, remedy, { type: "InputRequiredError" });
}

/** The terminal itself echoes and edits what is typed, save a secret. @param signal ends an open question */
function createPlainPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const fitted = (text: string) => fitMessage(escapeControls(text), terminal.stderrColumns);
  const say = (line: string) => terminal.stderr.write(`${fitted(line)}\n`);
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
  const select = <T>(message: string, choices: Choice<T>[], { initial }: Usual<T> = {}): Promise<T> => {
    list(message, choices);
    const usual = choices.findIndex(({ value }) => value === initial);
    const onEnter = usual < 0 ? "" : ` (Enter: ${usual + 1})`;
    return askUntil(`Number, 1 to ${choices.length}${onEnter}:`, (answer) => {
      const typed = answer.trim();
      const chosen = typed === "" ? choices[usual] : findNumbered(typed, choices);
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
    select,
    chooseLine: ({ message, accept, columns, lines }) =>
      select<number | undefined>(message, [
        { name: accept, value: undefined },
        ...lines.map((line, value) => ({ name: nameLine(line, columns), value })),
      ]),
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

// Drawn: choices under the cursor keys, answers checked as they are given.

type Inquirer = typeof import("@inquirer/prompts");
type PromptContext = NonNullable<Parameters<Inquirer["confirm"]>[1]>;
type Question<T> = (inquirer: Inquirer, context: PromptContext) => Promise<T>;

/** Choices visible at once, at least. */
const minPageSize = 12;
/**
 * Up and down alone move the cursor. With the library's own keys any other one is a search for what was
 * typed, and Esc or an arrow to the side a search for nothing, which finds the first choice.
 */
const theme = { keybindings: ["vim" as const] };

/** @param signal ends an open question */
function createDrawnPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const pageSize = Math.max(minPageSize, (terminal.rows ?? 0) - 6);
  /** The width beside the cursor of a choice. */
  const room = terminal.stderrColumns - "❯ ".length;
  const ask = async <T>(question: Question<T>, onEscape?: T): Promise<T> =>
    askDrawn(terminal, signal, question, onEscape);
  // The library breaks lines within words. Its mark precedes the question, and the answer follows it.
  const fitted = (message: string) =>
    fitMessage(escapeControls(message), terminal.stderrColumns - " (y/N) ".length, "? ".length);
  const toSafe = async <T>(choices: readonly Choice<T>[]) => {
    const { cut } = await import("./text-width.ts");
    return choices.map(({ name, short = name, description = "", value }) => ({
      name: cut(escapeControls(name), room),
      short: escapeControls(short),
      description: escapeControls(description) || undefined,
      value,
    }));
  };
  /** @param header stands above all choices but the first */
  const select = <T>(
    message: string,
    choices: Choice<T>[],
    { initial, onEscape }: Usual<T> = {},
    header?: string,
  ): Promise<T> =>
    ask(async (inquirer, context) => {
      const [first, ...others] = await toSafe(choices);
      const isCut = choices.length > pageSize;
      return inquirer.select(
        {
          message: fitted(isCut ? `${message} (↓ shows more)` : message),
          choices: [first!, ...(header ? [new inquirer.Separator(` ${header}`)] : []), ...others],
          // Only one of the choices can be preselected.
          ...(choices.some(({ value }) => value === initial) && { default: initial as never }),
          ...{ pageSize, theme, loop: true },
        },
        context,
      );
    }, onEscape);
  return {
    confirm: (message) =>
      ask((inquirer, context) => inquirer.confirm({ message: fitted(message), default: false }, context)),
    input: (message, initial, check) =>
      ask((inquirer, context) => {
        const validate = (answer: string) => check?.(answer) ?? true;
        return inquirer.input({ message: fitted(message), default: initial, validate }, context);
      }),
    secret: (message) =>
      ask((inquirer, context) =>
        inquirer.password({ message: fitted(message), mask: false, toggleMask: false }, context),
      ),
    select,
    async chooseLine(table) {
      const { message, accept, lines } = table;
      const [header, ...drawn] = await drawLines(table, room);
      return select<number | undefined>(
        message,
        [
          { name: accept, short: "yes", value: undefined },
          ...drawn.map((name, value) => ({ name, value, short: lines[value]![0]! })),
        ],
        {},
        header,
      );
    },
    chooseKey: (message, choices) =>
      ask((inquirer, context) => {
        const { key, name, value } = choices.at(-1)!;
        const listed = [...choices.slice(0, -1), { key, name: `${name} (Enter)`, value }];
        const question = { message: fitted(message), choices: listed, expanded: true, default: key };
        return inquirer.expand(question, context);
      }),
    checkbox: (message, choices) =>
      ask(async (inquirer, context) => {
        const question = { message: fitted(message), choices: await toSafe(choices), pageSize, loop: false };
        return inquirer.checkbox(question, context);
      }),
  };
}

async function askDrawn<T>(
  terminal: Terminal,
  signal: AbortSignal,
  question: Question<T>,
  onEscape?: T,
): Promise<T> {
  const { stdin } = terminal;
  const inquirer = await import("@inquirer/prompts");
  // Without this a question whose input ends (Ctrl-D) is never settled, and the process ends as if all were
  // well.
  const ending = new AbortController();
  const end = () => ending.abort();
  const context = {
    input: stdin,
    output: createCanvas(terminal),
    signal: AbortSignal.any([signal, ending.signal]),
    // A question that Esc has left does not stay on the screen.
    clearPromptOnDone: false,
  };
  const onKey = (_text: unknown, key?: { ctrl?: boolean; name?: string }) => {
    context.clearPromptOnDone = onEscape !== undefined && key?.name === "escape";
    if (context.clearPromptOnDone || (key?.ctrl && key.name === "d")) end();
  };
  stdin.on("end", end).on("keypress", onKey);
  try {
    return await question(inquirer, context);
  } catch (error) {
    if (!/^(Exit|Abort)PromptError$/.test((error as Error).name)) throw error;
    if (signal.aborted) throw signal.reason;
    if (context.clearPromptOnDone) return onEscape!;
    throw interruptedAtQuestion();
  } finally {
    stdin.off("end", end).off("keypress", onKey);
  }
}

/** The header and the lines, each within the width. */
async function drawLines({ columns, lines }: LineTable, width: number): Promise<string[]> {
  const { renderTable } = await import("./table.ts");
  const rows = lines.map((line) => [...line]);
  const named = columns.map((name) => ({ name }));
  const drawn = renderTable(named, rows, width, false).trimEnd().split("\n");
  // Where it is too narrow for columns side by side, each line is cut.
  return drawn.length === rows.length + 1 ? drawn : [[...columns], ...rows].map((row) => row.join("  "));
}

/**
 * What questions are drawn on: stderr, without colours where none are wanted. It ends with the question;
 * stderr does not.
 */
function createCanvas({ stderr, stderrColumns, isColored }: Terminal): Writable & { columns?: number } {
  const drawing = new Writable({
    decodeStrings: false,
    write(text: string | Buffer, _encoding, done) {
      // The movements of the cursor stay.
      stderr.write(isColored.err ? text : String(text).replace(/\u001b\[[\d;]*m/g, ""));
      done();
    },
  });
  return Object.assign(drawing, { isTTY: true, columns: stderrColumns });
}
