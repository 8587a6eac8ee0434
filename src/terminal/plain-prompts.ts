/** Questions as plain lines, for screen readers and simple terminals: nothing is redrawn, choices are numbered. */
import { StringDecoder } from "node:string_decoder";
import { InterruptedError } from "../errors.ts";
import { fitMessage } from "./message-lines.ts";
import type { Choice, Prompter } from "./prompts.ts";
import type { Terminal } from "./terminal.ts";

/** The terminal itself echoes and edits what is typed, save a secret. @param signal ends an open question */
export function createPlainPrompter(terminal: Terminal, signal: AbortSignal): Prompter {
  const { stderr } = terminal;
  const fitted = (text: string) => fitMessage(text, terminal.stderrColumns);
  const say = (line: string) => stderr.write(`${fitted(line)}\n`);
  const ask = (question: string, isSecret = false): Promise<string> => {
    stderr.write(`${fitted(question)} `);
    return readLine(terminal, signal, isSecret);
  };
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
    select(message, choices) {
      list(message, choices);
      return askUntil(`Number, 1 to ${choices.length}:`, (answer) => {
        const chosen = numbered(answer.trim(), choices);
        return chosen ?? `There is no number ${JSON.stringify(answer)}.`;
      });
    },
    checkbox(message, choices) {
      list(message, choices);
      return askUntil("Numbers, separated by spaces; empty for none:", (answer) => {
        const words = answer.split(/[\s,]+/).filter((word) => word !== "");
        const chosen = words.map((word) => numbered(word, choices));
        const wrong = words[chosen.indexOf(undefined)];
        if (wrong !== undefined) return `There is no number ${JSON.stringify(wrong)}.`;
        return { value: [...new Set(chosen.map((each) => each!.value))] };
      });
    },
  };
}

function numbered<T>(word: string, choices: Choice<T>[]): { value: T } | undefined {
  return /^\d+$/.test(word) ? choices[Number(word) - 1] : undefined;
}

type RawInput = Terminal["stdin"] & { setRawMode?(isRaw: boolean): void };

/** One line of what is typed. @throws InterruptedError when the input ends, or the signal fires */
async function readLine(
  { stdin, stderr }: Terminal,
  signal: AbortSignal,
  isSecret: boolean,
): Promise<string> {
  const input: RawInput = stdin;
  const { promise, resolve, reject } = deferred<string>();
  const decoder = new StringDecoder("utf8");
  let typed = "";
  const stop = () => {
    // What follows begins a line of its own.
    stderr.write("\n");
    reject(signal.aborted ? signal.reason : new InterruptedError());
  };
  const onData = (chunk: Buffer | string) => {
    for (const character of typeof chunk === "string" ? chunk : decoder.write(chunk)) {
      if (character === "\n" || character === "\r") return resolve(typed);
      if (character === "\u0003" || character === "\u0004") return stop();
      const isBack = character === "\u007f" || character === "\b";
      typed = isBack ? [...typed].slice(0, -1).join("") : typed + character;
    }
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  // The terminal's own line mode would show what is typed.
  if (isSecret) input.setRawMode?.(true);
  stdin.on("data", onData).on("end", stop).resume();
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", stop);
    stdin.off("data", onData).off("end", stop).pause();
    if (isSecret) input.setRawMode?.(false);
  }
}

function deferred<T>() {
  let settle!: { resolve(value: T): void; reject(reason: unknown): void };
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
}
