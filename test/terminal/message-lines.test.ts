import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { fitMessage } from "../../src/terminal/message-lines.ts";
import { Terminal } from "../../src/terminal/terminal.ts";

it.each([
  ["breaks between words, and goes on indented", 11, "one two three four", "one two\n  three\n  four"],
  ["keeps the indentation of a list", 14, "  ada is here and there", "  ada is here\n    and there"],
  ["hangs on its title", 18, "error: No such thing at all", "error: No such\n       thing at\n       all"],
  ["keeps commands", 26, "Undo it: ecm runs undo 7 --yes now", "Undo it:\n  ecm runs undo 7 --yes now"],
  ["up to what follows", 20, "See ecm runs show X; then ecm do Y", "See ecm runs show X;\n  then ecm do Y"],
  [
    "keeps the end of a part of a sentence with its command",
    20,
    "See: ecm plan show /a/long/path; or wait",
    "See:\n  ecm plan show /a/long/path;\n  or wait",
  ],
  ["keeps a number and its percent sign", 17, "allows at most 10 %", "allows at most\n  10 %"],
  ["keeps a flag and its value", 20, "to try it: --profile sandbox", "to try it:\n  --profile sandbox"],
  ["keeps a name in quotes", 18, 'The list "Old leads" is there', 'The list\n  "Old leads" is\n  there'],
  ["breaks no word", 12, "see https://x.org/a/long/path now", "see\n  https://x.org/a/long/path\n  now"],
  ["counts wide characters twice", 10, "花子 花子 花子", "花子 花子\n  花子"],
  ["does not count colours", 14, "\x1b[33mwarning:\x1b[39m short", "\x1b[33mwarning:\x1b[39m short"],
  ["leaves what fits as it is", 8, "a  b   c", "a  b   c"],
])("a message %s", (_name, columns, text, expected) => {
  const hang = text.startsWith("error: ") ? 7 : undefined;
  expect(fitMessage(text, columns, hang)).toBe(expected);
});

it("a message loses and adds nothing but blanks and line breaks", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 40 }), (text, columns) => {
      const bare = (each: string) => each.replace(/\s/g, "");
      expect(bare(fitMessage(text, columns))).toBe(bare(text));
    }),
  );
});

it("a message takes no more time for long text than for short", () => {
  const text = `${"--".repeat(20_000)} ${"ecm ".repeat(5_000)}'${'"'.repeat(20_000)}`;
  expect(fitMessage(text, 20).length).toBeGreaterThan(text.length / 2);
});

/** What is said of this message on these streams. */
function say(message: string, streams: { stderr: PassThrough; env?: Record<string, string> }): string {
  new Terminal({ stdin: new PassThrough(), stdout: new PassThrough(), env: {}, ...streams }).note(message);
  return String(streams.stderr.read());
}

it("the width is that of stderr, where stdout is a file; elsewhere a message is one line", () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 12 });
  expect(say("one two three four", { stderr })).toBe("one two\n  three four\n");
  const message = "word ".repeat(40).trim();
  expect(say(message, { stderr: new PassThrough(), env: { COLUMNS: "20" } })).toBe(`${message}\n`);
});
