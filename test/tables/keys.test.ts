import fc from "fast-check";
import { expect, test } from "vitest";
import { createIdentityReader, createKeyReader } from "../../src/tables/keys.ts";
import { anyText, runs } from "../support/runs.ts";

const readKey = createKeyReader("email");

function readSent(cell: string): string {
  const reading = readKey(cell);
  return "key" in reading ? reading.key.sent : reading.code;
}

test.each([
  ["Ada.Lovelace@Example.COM", "Ada.Lovelace@example.com"],
  ["  ada@example.com\u00a0", "ada@example.com"],
  ["\ufeff\u200bada@example.com\u3000", "ada@example.com"],
  ["ada@example.com\u202e", "ada@example.com"],
  ["mailto:ada@example.com?subject=Hi", "ada@example.com"],
  ["Ada Lovelace <ada@example.com>", "ada@example.com"],
  ['"Lovelace, Ada" <ada@example.com>', "ada@example.com"],
  ["'ada@example.com", "ada@example.com"],
  ["o'hara@example.com", "o'hara@example.com"],
  ["ada＠example．com", "ada@example.com"],
  ["ada@bücher.de", "ada@xn--bcher-kva.de"],
  ["ada@faß.de", "ada@xn--fa-hia.de"],
  ["ada@example.com.", "ada@example.com"],
  ["user+tag/department=x@example.co.uk", "user+tag/department=x@example.co.uk"],
])("%j is sent as %j", (cell, sent) => expect(readSent(cell)).toBe(sent));

test.each(
  Object.entries({
    key_missing: ["", " \u00a0\u200b"],
    key_placeholder: ["N/A", "-", "none@none.com"],
    key_several_addresses: ["a@x.org, b@x.org", "a@x.org;b@x.org", "a@x.org b@x.org"],
    key_invisible_character: ["jo\u200bhn@x.org", "john@exam\u202eple.com", "john\u0007@example.com"],
    key_quoted_local: ['"john doe"@example.com'],
    key_address_literal: ["john@[192.0.2.1]"],
    key_non_ascii_local: ["jоhn@example.com"],
    key_too_long: [`${"x".repeat(65)}@example.com`, `x@${"a.".repeat(130)}com`],
    key_syntax: [
      ...["john", "john@", "@example.com", "john@localhost", "a@b@c.com", "john doe@example.com"],
      ...["aaa..bbb@x.org", "john@exa_mple.com", "john@-x.org", "john@x.org/path", "john@xn--0.tld"],
    ],
  }).flatMap(([code, cells]) => cells.map((cell) => [code, cell])),
)("%s: %j is refused", (code, cell) => expect(readSent(cell!)).toBe(code));

test.each<
  [type: string, cell: string, warnings: string[], written: string, sent?: string, identity?: string]
>([
  ["email", " Ada@BÜCHER.de ", [], "Ada@BÜCHER.de", "Ada@xn--bcher-kva.de", "ada@xn--bcher-kva.de"],
  ["email", "info@gmial.com", ["likely_typo", "role_address"], "info@gmial.com"],
  ["text", "\u00a0'Customer 7 ", [], "'Customer 7"],
])(
  "a key of type %s, %j, has warnings %j, and what the file has beside what is sent",
  (type, cell, ...key) => {
    const [warnings, written, sent = written, identity = sent] = key;
    expect(createKeyReader(type)(cell)).toEqual({ key: { written, sent, identity }, warnings });
  },
);

test("keys that differ in case alone are one contact", () => {
  expect(createIdentityReader("email")("ADA@example.com")).toBe(
    createIdentityReader("Email")("ada@EXAMPLE.com"),
  );
  expect(createIdentityReader("email")("Ümlaut@bücher.de")).toBe("ümlaut@xn--bcher-kva.de");
});

test("a plain address is read as the long way reads it", () => {
  const local = fc.stringMatching(/^[A-Za-z0-9][\w.+-]{0,70}$/);
  const odd = "Example.COM gmial.com none.com na xn--bcher-kva.de xn--zzzz a..b b.c- 1.2.3.4";
  const domain = fc.oneof(
    fc.constantFrom(...odd.split(" ")),
    fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9.-]{0,200}$/),
  );
  const localOrRole = fc.oneof(local, fc.constantFrom("info", "test", "no", "Postmaster"));
  fc.assert(
    fc.property(localOrRole, domain, (one, other) => {
      // A blank at the edge takes the long way, and is trimmed there.
      expect(readKey(`${one}@${other}`)).toEqual(readKey(` ${one}@${other}`));
    }),
    { numRuns: runs(100) },
  );
});

test.each([
  ["gmail.com", []],
  ["mail.com", []],
  ["hotmial.com", ["likely_typo"]],
  ["gmail.con", ["likely_typo"]],
])("the domain %s: %j", (domain, warnings) => expect(readKey(`a@${domain}`)).toMatchObject({ warnings }));

test("a key that is no address may not be blank", () => {
  expect(createKeyReader("text")(" ")).toMatchObject({ code: "key_missing" });
});

test("a key that was read reads again as itself", () => {
  const parts = ["a", "@", ".", "<", ">", "'", " ", "mailto:", "\u200b", "ü", "com", '"', ","];
  const local = fc.string({ unit: "grapheme", maxLength: 8 });
  const cell = fc.oneof(
    fc.emailAddress(),
    anyText(),
    fc.tuple(local, fc.domain()).map((both) => both.join("@")),
    fc.string({ unit: fc.constantFrom(...parts), maxLength: 12 }),
  );
  fc.assert(
    fc.property(cell, (written) => {
      const reading = readKey(written);
      if ("code" in reading) {
        expect(reading.message).not.toBe("");
        return;
      }
      const again = readKey(reading.key.sent);
      expect(again).toMatchObject({ key: { sent: reading.key.sent, identity: reading.key.identity } });
      expect(reading.key.sent).toMatch(/^[\x21-\x7e]+@[a-z0-9.-]+$/);
    }),
    { numRuns: runs(100) },
  );
});

// In time that grows with their square, they would take minutes.
test("hostile cells of a hundred thousand characters are judged at once", () => {
  for (const piece of ["@", "a@", " ", "<", "\u200b", "a,", ".", "'", "mailto:", "n/", "a@a ", "é", "@,"]) {
    const long = piece.repeat(100_000 / piece.length);
    for (const cell of [long, `a${long}a`, `a@b${long}c`, `a@@${long}`])
      expect(readSent(cell)).toMatch(/^key_/);
  }
});
