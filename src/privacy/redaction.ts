/**
 * Finding a contact's key in text of any kind, in any letter case and as any of our files
 * may write it, and putting as many bytes without meaning in its place. Text is handled
 * as latin1, where a character is a byte. Pure.
 */
import { domainToASCII, domainToUnicode } from "node:url";
import { createErasedKey, toPersonIdentity } from "../api/key-spelling.ts";
import { toLatin1, toUtf8 } from "./file-text.ts";

export interface Redactor {
  /**
   * Whether the key is in these bytes.
   * @param from, to where it begins, for a piece that is cut out of a longer text
   */
  isIn(bytes: string, from?: number, to?: number): boolean;
  /** Whether a text is one of the keys, in any spelling, and nothing else. */
  isKey(text: string): boolean;
  /** The bytes with the key masked, of the same length. */
  redact(bytes: string): string;
}

/** @param keys of contacts; what holds an `@` is an address, and is found within other text */
export function createRedactor(keys: readonly string[]): Redactor {
  const finders = keys.flatMap((key) => listForms(key).map((form) => createFinder(form, key.includes("@"))));
  const identities = new Set(keys.map(toPersonIdentity));
  return {
    isKey: (text) => identities.has(toPersonIdentity(text.replace(/^'/, ""))),
    isIn(bytes, from = 0, to = bytes.length) {
      const isThere = (start: number) => start >= from && start < to;
      return finders.some(
        ({ narrow, wide }) =>
          find(bytes, narrow).some(([start]) => isThere(start)) ||
          (wide.test(bytes) &&
            [...bytes.matchAll(new RegExp(wide, "g"))].some(({ index }) => isThere(index))),
      );
    },
    redact(bytes) {
      let redacted = bytes;
      for (const { narrow, wide } of finders) {
        for (const [start, end] of find(redacted, narrow)) {
          redacted = redacted.slice(0, start) + createErasedKey(end - start) + redacted.slice(end);
        }
        redacted = redacted.replace(new RegExp(wide, "g"), (match) =>
          [...createErasedKey(match.length / 2)]
            .map((mask) => (match[0] === "\0" ? `\0${mask}` : `${mask}\0`))
            .join(""),
        );
      }
      return redacted;
    },
  };
}

interface Finder {
  /** UTF-8 or a code page of one byte, with the escapes of JSON, URLs, HTML and CSV. */
  narrow: { pattern: RegExp; isWithin(bytes: string, start: number, end: number): boolean };
  /** UTF-16 of either byte order. */
  wide: RegExp;
}

function find(bytes: string, { pattern, isWithin }: Finder["narrow"]): [start: number, end: number][] {
  const found: [number, number][] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(bytes); match; match = pattern.exec(bytes)) {
    const end = match.index + match[0].length;
    if (isWithin(bytes, match.index, end)) found.push([match.index, end]);
    else pattern.lastIndex = match.index + 1;
  }
  return found;
}

/** The key as typed, composed and decomposed, and its domain in both spellings. */
function listForms(key: string): string[] {
  const typed = key.trim();
  const at = typed.lastIndexOf("@");
  const local = typed.slice(0, at + 1);
  const domains = at < 0 ? [] : [domainToASCII(typed.slice(at + 1)), domainToUnicode(typed.slice(at + 1))];
  const spelled = [typed, ...domains.filter((domain) => domain !== "").map((domain) => local + domain)];
  return [...new Set(spelled.flatMap((form) => [form.normalize("NFC"), form.normalize("NFD")].map(toLower)))];
}

function createFinder(form: string, isAddress: boolean): Finder {
  const characters = [...form];
  const narrow = new RegExp(
    characters.map((character) => toAlternatives(listNarrowForms(character))).join(""),
    "g",
  );
  const little = characters.map((character) =>
    toAlternatives(listCases(character).map((each) => toUtf16(each, "utf16le"))),
  );
  const big = characters.map((character) =>
    toAlternatives(listCases(character).map((each) => toUtf16(each, "utf16be"))),
  );
  return {
    narrow: { pattern: narrow, isWithin: isAddress ? isWholeAddress : isWholeValue },
    wide: new RegExp(`${little.join("")}|${big.join("")}`),
  };
}

function listNarrowForms(character: string): string[] {
  const forms = listCases(character).flatMap((each) => {
    const utf8 = toLatin1(each);
    const percent = [...utf8].map((byte) => `%${toHex(byte.charCodeAt(0), 2)}`).join("");
    const json = [...Array(each.length).keys()].map((at) => `\\u${toHex(each.charCodeAt(at), 4)}`).join("");
    const codePoint = each.codePointAt(0)!;
    const html = [`&#${codePoint};`, `&#x${toHex(codePoint, 1)};`];
    const codePage = codePoint > 127 && codePoint < 256 ? [String.fromCharCode(codePoint)] : [];
    return [utf8, ...[percent, json, ...html].flatMap((escaped) => listHexCases(escaped)), ...codePage];
  });
  const special: Record<string, string[]> = {
    '"': ['""', '\\"'],
    "\\": ["\\\\"],
    "/": ["\\/"],
    "&": ["&amp;"],
    "@": ["&commat;"],
  };
  return [...new Set([...(special[character] ?? []), ...forms])];
}

function listHexCases(escaped: string): string[] {
  const head = /^(?:\\u|%|&#x?)/.exec(escaped)![0];
  const lowered = escaped.replaceAll(/[0-9A-F]+/g, toLower);
  return head === "%" || head === "\\u" || head === "&#x" ? [escaped, lowered] : [escaped];
}

function listCases(character: string): string[] {
  return [...new Set([toLower(character), character.toUpperCase()])];
}

function toUtf16(text: string, order: "utf16le" | "utf16be"): string {
  const bytes = Buffer.from(text, "utf16le");
  return (order === "utf16le" ? bytes : bytes.swap16()).toString("latin1");
}

function toHex(code: number, digits: number): string {
  return code.toString(16).toUpperCase().padStart(digits, "0");
}

function toLower(text: string): string {
  return text.toLowerCase();
}

function toAlternatives(forms: string[]): string {
  return `(?:${forms.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|")})`;
}

/** Behind an address in the name of a file; none of these is a top-level domain. */
const fileEnding = /^\.(?:csv|tsv|json|jsonl|ndjson|xlsx|txt|gz)(?![a-z0-9-])/i;

/** Not the end of a longer address, nor the beginning of one: `granada@x.org` is not `ada@x.org`. */
function isWholeAddress(bytes: string, start: number, end: number): boolean {
  if (/[\p{L}\p{N}._+-]/u.test(toAddressCharacter(readCharacterBefore(bytes, start)))) return false;
  const next = toAddressCharacter(readCharacterAfter(bytes, end));
  if (/[\p{L}\p{N}]/u.test(next)) return false;
  if (next !== "." && next !== "-") return true;
  if (fileEnding.test(bytes.slice(end, end + 10))) return true;
  const second = toAddressCharacter(readCharacterAfter(bytes, end + 1));
  return !/[\p{L}\p{N}]/u.test(second);
}

/** A key that is no address is found only as a whole cell, or as a whole text of JSON. */
function isWholeValue(bytes: string, start: number, end: number): boolean {
  const isJson = /^(?:[0-9a-f]{8} )?[\s,]*[[{]/.test(bytes);
  const edges = isJson ? /^["]$/ : /^(?:["\t,;|\r\n]|)$/;
  return edges.test(bytes.charAt(start - 1)) && edges.test(bytes.charAt(end));
}

/** Scripts without letter case adjoin an address without being part of it. */
function toAddressCharacter(character: string): string {
  const isPlain = character < "\u0080";
  return isPlain || /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u.test(character)
    ? character
    : " ";
}

function readCharacterBefore(bytes: string, start: number): string {
  const before = bytes.slice(Math.max(0, start - 12), start);
  const unicode = /\\u([0-9a-f]{4})$/i.exec(before) ?? /%([0-9a-f]{2})$/i.exec(before);
  if (unicode) return String.fromCharCode(Number.parseInt(unicode[1]!, 16));
  // A letter behind an odd number of backslashes is an escape, such as a line break.
  const escaped = /(\\+)[nrtbf]$/.exec(before);
  if (escaped && escaped[1]!.length % 2 === 1) return "\n";
  return [...toUtf8(before)].at(-1) ?? "";
}

function readCharacterAfter(bytes: string, end: number): string {
  const after = bytes.slice(end, end + 8);
  const unicode = /^\\u([0-9a-f]{4})/i.exec(after) ?? /^%([0-9a-f]{2})/i.exec(after);
  if (unicode) return String.fromCharCode(Number.parseInt(unicode[1]!, 16));
  return [...toUtf8(after)][0] ?? "";
}
