import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/privacy/redaction.ts";

const toBytes = (text: string) => Buffer.from(text).toString("latin1");
const toText = (bytes: string) => Buffer.from(bytes, "latin1").toString("utf8");
const redact = (key: string, text: string) => toText(createRedactor([key]).redact(toBytes(text)));
const masked = (length: number) => "erased".padEnd(length, "-").slice(0, length);

describe("a key in text", () => {
  const key = "Ada.L@example.com";
  const mask = masked(key.length);

  it.each([
    ["any letter case", `x,ADA.l@Example.COM,y`, `x,${mask},y`],
    ["a JSON escape", `{"key":"ada.l\\u0040example.com"}`, `{"key":"${masked(key.length + 5)}"}`],
    ["a JSON escape of a letter", `"\\u0061da.l@example.com"`, `"${masked(key.length + 5)}"`],
    ["a URL", `/x?key=ada.l%40example.com&y=1`, `/x?key=${masked(key.length + 2)}&y=1`],
    ["HTML", `ada.l&#64;example.com`, masked(key.length + 4)],
    ["a line break's escape before it", `"a\\nada.l@example.com\\n"`, `"a\\n${mask}\\n"`],
    ["words around it", `Referred by <ada.l@example.com>.`, `Referred by <${mask}>.`],
    ["the end of a sentence", `mail ada.l@example.com. Then`, `mail ${mask}. Then`],
    ["Japanese around it", `連絡先ada.l@example.comまで`, `連絡先${mask}まで`],
    ["a spreadsheet's apostrophe", `'ada.l@example.com'`, `'${mask}'`],
    ["twice", `ada.l@example.com,ada.l@example.com`, `${mask},${mask}`],
  ])("is found with %s", (_name, text, expected) => {
    expect(redact(key, text)).toBe(expected);
  });

  it.each([
    `grace.ada.l@example.com`,
    `xada.l@example.com`,
    `a+ada.l@example.com`,
    `éada.l@example.com`,
    `ada.l@example.com.au`,
    `ada.l@example.community`,
    `ada.l@example.com-x.org`,
    `adaxl@example.com`,
    `\\u0078ada.l@example.com`,
  ])("is not found in another address: %s", (text) => {
    expect(redact(key, text)).toBe(text);
  });

  it("is found in UTF-16, in latin1, and with its domain in both spellings", { tags: "slow" }, () => {
    for (const encode of [(b: Buffer) => b, (b: Buffer) => b.swap16()]) {
      const bytes = encode(Buffer.from("Email\r\nADA.l@example.com\r\n", "utf16le")).toString("latin1");
      const { redact: mask16, isIn } = createRedactor([key]);
      expect(isIn(bytes)).toBe(true);
      const back = encode(Buffer.from(mask16(bytes), "latin1")).toString("utf16le");
      expect(back).toBe(`Email\r\n${mask}\r\n`);
    }
    expect(redact("ada@bücher.example", "ada@xn--bcher-kva.example")).toMatch(/^erased-+$/);
    expect(redact("ada@xn--bcher-kva.example", "Ada@BÜCHER.example")).toMatch(/^erased-+$/);
    expect(redact("ada@bu\u0308cher.example", "ada@bücher.example")).toMatch(/^erased-+$/);
    expect(createRedactor(["jürg@x.org"]).isIn(Buffer.from("jürg@x.org", "latin1").toString("latin1"))).toBe(
      true,
    );
  });

  it("that is no address is found as a whole value only", () => {
    expect(redact("1001", `1001,10010,"1001",21001\n`)).toBe(`eras,10010,"eras",21001\n`);
    expect(redact("1001", `{"ref":1001,"key":"1001","text":"x 1001"}`)).toBe(
      `{"ref":1001,"key":"eras","text":"x 1001"}`,
    );
  });

  it("leaves no address behind, whatever stands around it, and keeps the length", { tags: "slow" }, () => {
    const around = fc.string({
      unit: fc.constantFrom(" ", ",", ";", '"', "\n", "\t", "<", ">", ":", "漢", "="),
    });
    const local = fc.stringMatching(/^[a-z][a-z0-9._+-]{0,8}[a-z0-9]$/);
    fc.assert(
      fc.property(local, around, around, fc.boolean(), (name, before, after, isEscaped) => {
        const address = `${name}@example.com`;
        const text = `${before}${address}${after}`;
        const written = toBytes(isEscaped ? JSON.stringify(text) : text);
        const { redact: mask, isIn } = createRedactor([address.toUpperCase()]);
        const result = mask(written);
        expect(result).toHaveLength(written.length);
        expect(result.toLowerCase()).not.toContain(address);
        expect(isIn(result)).toBe(false);
      }),
    );
  });
});
