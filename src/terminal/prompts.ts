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

/** What is wrong with an answer, for the person who gave it; undefined when nothing is. */
type Check = (answer: string) => string | undefined;

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

export interface Prompter {
  /** Asks yes or no; the default is no. */
  confirm(message: string): Promise<boolean>;
  /** @param initial taken when nothing is typed */
  input(message: string, initial?: string, check?: Check): Promise<string>;
  /** Nothing is echoed. */
  secret(message: string): Promise<string>;
  /**
   * @param initial preselected; else the first of the choices, of which there is at least one
   * @param onEscape the answer of Esc, where the question is drawn; without it, Esc does nothing
   */
  select<T>(message: string, choices: Choice<T>[], initial?: T, onEscape?: T): Promise<T>;
  /** @returns the place of the line that is to be changed; undefined where the table is taken as it is */
  chooseLine(table: LineTable): Promise<number | undefined>;
  /** Asks for a letter. @param choices the last is taken where nothing is typed */
  chooseKey<T>(message: string, choices: KeyChoice<T>[]): Promise<T>;
  /** Any number of them, none too. */
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

// Drawn: choices under the cursor keys, answers checked as they are given.

type Inquirer = typeof import("@inquirer/prompts");
type Cut = typeof import("./text-width.ts").cut;
type PromptContext = NonNullable<Parameters<Inquirer["confirm"]>[1]>;

/** Choices visible at once. */
const pageSize = 12;
/**
 * Up and down alone move the cursor, around the end too. With the library's own keys any other one is a
 * search for what was typed, and Esc or an arrow to the side a search for nothing, which finds the first
 * choice.
 */
const menu = { pageSize, loop: true, theme: { keybindings: ["vim" as const] } };

/** @param signal ends an open question */
function createDrawnPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const { stdin } = terminal;
  let cut: Cut;
  const ask = async <T>(
    question: (inquirer: Inquirer, context: PromptContext) => Promise<T>,
    onEscape?: T,
  ): Promise<T> => {
    const inquirer = await import("@inquirer/prompts");
    ({ cut } = await import("./text-width.ts"));
    // Without this a question whose input ends (Ctrl-D) is never settled, and the process ends as if all were
    // well.
    const ending = new AbortController();
    const end = () => ending.abort();
    let isEscaped = false;
    const onKey = (_text: unknown, key?: { ctrl?: boolean; name?: string }) => {
      isEscaped = onEscape !== undefined && key?.name === "escape";
      if (isEscaped || (key?.ctrl && key.name === "d")) end();
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
      if (!/^(Exit|Abort)PromptError$/.test((error as Error).name)) throw error;
      if (signal.aborted) throw signal.reason;
      if (isEscaped) return onEscape!;
      throw interruptedAtQuestion();
    } finally {
      stdin.off("end", end).off("keypress", onKey);
    }
  };
  /** The width beside the cursor of a choice. */
  const room = () => terminal.stderrColumns - "❯ ".length;
  // The library breaks lines within words. Its mark precedes the question, and the answer follows it.
  const fitted = (message: string) =>
    fitMessage(escapeControls(message), terminal.stderrColumns - " (y/N) ".length, "? ".length);
  const toSafe = <T>({ name, short = name, description = "", value }: Choice<T>) => ({
    name: cut(escapeControls(name), room()),
    short: escapeControls(short),
    description: escapeControls(description) || undefined,
    value,
  });
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
    select: (message, choices, initial, onEscape) =>
      ask((inquirer, context) => {
        // Only one of the choices can be preselected.
        const preselected = choices.some(({ value }) => value === initial) && { default: initial as never };
        const question = { ...menu, message: fitted(message), choices: choices.map(toSafe), ...preselected };
        return inquirer.select(question, context);
      }, onEscape),
    chooseLine: (table) =>
      ask(async (inquirer, context) => {
        const lines = table.lines.map((line) => line.map(escapeControls));
        const safe = { ...table, message: fitted(table.message), lines };
        return inquirer.select(await toLineQuestion(inquirer, terminal, safe), context);
      }).then((line) => (line === accepted ? undefined : line)),
    chooseKey: (message, choices) =>
      ask((inquirer, context) => {
        const { key, name, value } = choices.at(-1)!;
        const listed = [...choices.slice(0, -1), { key, name: `${name} (Enter)`, value }];
        return inquirer.expand(
          { message: fitted(message), choices: listed, expanded: true, default: key },
          context,
        );
      }),
    checkbox: (message, choices) =>
      ask((inquirer, context) =>
        inquirer.checkbox(
          { message: fitted(message), choices: choices.map(toSafe), pageSize, loop: false },
          context,
        ),
      ),
  };
}

const accepted = -1;

/** The lines below each other, and above them the choice to take them as they are. */
async function toLineQuestion(
  { Separator }: Inquirer,
  { stderrColumns, rows = 0 }: Terminal,
  { message, accept, columns, lines }: LineTable,
) {
  const [header = "", ...drawn] = await drawLines({ columns, lines }, stderrColumns - "❯ ".length);
  const choices = [
    { name: accept, short: "yes", value: accepted },
    new Separator(` ${header}`),
    ...drawn.map((name, value) => ({ name, value, short: lines[value]![0]! })),
  ];
  const height = Math.max(pageSize, rows - 6);
  const isCut = choices.length > height;
  return { ...menu, message: isCut ? `${message} (↓ shows more)` : message, choices, pageSize: height };
}

/** The header and the lines, each within the width. */
async function drawLines(
  { columns, lines }: Pick<LineTable, "columns" | "lines">,
  width: number,
): Promise<string[]> {
  const { renderTable } = await import("./table.ts");
  const { cut } = await import("./text-width.ts");
  const rows = lines.map((line) => [...line]);
  const named = columns.map((name) => ({ name }));
  const drawn = renderTable(named, rows, width, false).trimEnd().split("\n");
  // Too narrow for columns side by side.
  return drawn.length === rows.length + 1
    ? drawn
    : [[...columns], ...rows].map((row) => cut(row.join("  "), width));
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

/** Keeps the movements of the cursor. */
function removeColors(text: string): string {
  return text.replace(/\u001b\[[\d;]*m/g, "");
}
