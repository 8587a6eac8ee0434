/** Questions drawn on the screen: choices under the cursor keys, answers checked as they are given. */
import { Writable } from "node:stream";
import { interruptedAtQuestion } from "../errors.ts";
import { escapeControls } from "./escape.ts";
import { fitMessage } from "./message-lines.ts";
import type { Choice, LineTable, Prompter } from "./prompter.ts";
import type { Terminal } from "./terminal.ts";

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
export function createDrawnPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
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
