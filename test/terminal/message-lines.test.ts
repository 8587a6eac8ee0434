import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitMessage } from "../../src/terminal/message-lines.ts";
import { Terminal } from "../../src/terminal/terminal.ts";

describe("a message on a narrow screen", () => {
  it.each([
    ["breaks between words, and goes on indented", "one two three four", 11, "one two\n  three\n  four"],
    ["keeps the indentation of a list", "  ada is here and there", 14, "  ada is here\n    and there"],
    [
      "goes on behind its title",
      "error: No such thing at all",
      18,
      "error: No such\n       thing at\n       all",
    ],
    [
      "keeps a command whole",
      "Undo it: ecm runs undo 2026 --yes",
      26,
      "Undo it:\n  ecm runs undo 2026 --yes",
    ],
    [
      "keeps a command whole up to what follows it",
      "Look: ecm runs show X; then ecm runs undo X",
      24,
      "Look: ecm runs show X;\n  then ecm runs undo X",
    ],
    ["keeps a name in quotes", 'The list "Old leads" is there', 18, 'The list\n  "Old leads" is\n  there'],
    [
      "does not break a word",
      "see https://example.com/a/long/path now",
      12,
      "see\n  https://example.com/a/long/path\n  now",
    ],
    ["counts wide characters twice", "花子 花子 花子", 10, "花子 花子\n  花子"],
    [
      "does not count colours",
      "\u001b[33mwarning:\u001b[39m short",
      14,
      "\u001b[33mwarning:\u001b[39m short",
    ],
    ["leaves what fits as it is", "a  b   c", 8, "a  b   c"],
  ])("%s", (_name, text, columns, expected) => {
    const hang = text.startsWith("error: ") ? 7 : undefined;
    expect(fitMessage(text, columns, hang)).toBe(expected);
  });

  it("loses and adds nothing but blanks and line breaks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 1, max: 40 }), (text, columns) => {
        const bare = (each: string) => each.replace(/\s/g, "");
        expect(bare(fitMessage(text, columns))).toBe(bare(text));
      }),
    );
  });

  it("takes no more time for long text than for short", () => {
    const text = `${"--".repeat(20_000)} ${"ecm ".repeat(5_000)}'${'"'.repeat(20_000)}`;
    expect(fitMessage(text, 20).length).toBeGreaterThan(text.length / 2);
  });
});

describe("elsewhere", () => {
  it("the width is that of stderr, where stdout is a file", () => {
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 12 });
    new Terminal({ stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: {} }).note(
      "one two three four",
    );
    expect(String(stderr.read())).toBe("one two\n  three four\n");
  });

  it("a message is one line, however long", () => {
    const stderr = new PassThrough();
    const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr, env: { COLUMNS: "20" } };
    new Terminal(streams).note("word ".repeat(40).trim());
    expect(String(stderr.read())).toBe(`${"word ".repeat(40).trim()}\n`);
  });
});
