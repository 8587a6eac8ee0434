/** Someone at the keyboard of a program that runs in this process: answers questions as they are drawn. */
import type { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { interruptedError } from "../../src/errors.ts";

/** The words by which a question is known, and the keys that answer it. */
export type Answer = [question: string, keys: string];

export const down = "\u001b[B";
export const enter = "\r";

export interface Typist {
  /** Takes what the program has written on stderr. */
  read(text: string): void;
  /** Fires when a question is drawn that none of the answers is for: nobody would ever answer it. */
  signal: AbortSignal;
  /** @throws Error with the screen where a question was drawn that none of the answers was for */
  requireExpected(): void;
}

/**
 * Each answer is typed once its question is drawn: what is typed ahead is lost. `?` stands for any question.
 * @param keys where the keys go
 */
export function createTypist(answers: readonly Answer[], keys: PassThrough): Typist {
  const left = [...answers];
  const giveUp = new AbortController();
  let screen = "";
  /** The question that is drawn, with its choices. */
  let drawn: string | undefined;
  /** What was written since the last answer, for questions that are plain lines. */
  let plain = "";
  /** How the question begins that was answered last, without a default that is shown behind it. */
  let answered: string | undefined;
  let unexpected: string | undefined;

  function readQuestion(): void {
    const question = drawn ?? (/^[:?)] $/.test(plain.slice(-2)) ? plain : undefined);
    if (question === undefined) return;
    const [wanted, answer] = left[0] ?? [];
    if (wanted !== undefined && (wanted === "?" || question.includes(wanted))) {
      left.shift();
      const [line = ""] = question.split("\n");
      answered = line.slice(0, line.indexOf(wanted) + wanted.length).trimEnd() || line.trimEnd();
      drawn = undefined;
      plain = "";
      // The question listens a moment after it is drawn.
      setImmediate(() => keys.write(answer));
      return;
    }
    // A question that was answered is drawn again while its answer is typed.
    if (answered !== undefined && question.startsWith(answered)) return;
    unexpected = question;
    giveUp.abort(interruptedError("SIGINT", `an unexpected question: ${question}`));
  }

  return {
    signal: giveUp.signal,
    read(text) {
      const written = stripVTControlCharacters(text);
      screen += written;
      plain += written;
      // A question is drawn at once, its mark first; a tick takes the mark's place when it is answered.
      const [mark] = /^[?✔]|(?<=\n)[?](?= )/.exec(written) ?? [];
      if (mark === "✔") drawn = undefined;
      else if (mark === "?") drawn = written;
      else if (drawn !== undefined) drawn += written;
      if (unexpected === undefined) readQuestion();
    },
    requireExpected() {
      if (unexpected !== undefined) throw new Error(`nobody answers ${unexpected}\n${screen}`);
    },
  };
}
