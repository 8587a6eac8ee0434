/** Regular expressions in linear time, whatever the pattern: those of RE2. */
import { RE2JS } from "re2js";
import { quote } from "../values.ts";
import { maxTextCharacters } from "./string-functions.ts";

/** Of one mapping. */
export const maxPatterns = 100;
const maxPatternCharacters = 300;
const maxRepeats = 255;
/** Steps for each character of a text: a pattern such as `a{1000}` has a thousand. */
const maxProgramSize = 2000;

/** Whether a text holds what the pattern describes. @throws Error with what is wrong with the pattern */
export function createPattern(pattern: string): (text: string) => boolean {
  if (pattern.length > maxPatternCharacters) {
    throw new Error(`the pattern is longer than ${maxPatternCharacters} characters`);
  }
  // Compiling writes each repetition out.
  const repeats = [...pattern.matchAll(/\{(\d+)(?:,(\d+))?\}/g)].flatMap(([, least, most]) => [least, most]);
  if (repeats.some((count) => Number(count ?? 0) > maxRepeats)) {
    throw new Error(`the pattern ${quote(pattern)} repeats more than ${maxRepeats} times`);
  }
  const compiled = compilePattern(pattern);
  if (compiled.programSize() > maxProgramSize)
    throw new Error(`the pattern ${quote(pattern)} repeats too much`);
  return (text) => {
    if (text.length > maxTextCharacters) throw new Error("the text is too long for a pattern");
    return compiled.test(text);
  };
}

function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const [message = ""] = (error as Error).message.replace(/^error parsing regexp: /, "").split("\n");
    const remark = /\(\?[=!<]/.test(message) ? " (look-arounds are not supported)" : "";
    throw new Error(`the pattern ${quote(pattern)} is wrong: ${message}${remark}`);
  }
}
