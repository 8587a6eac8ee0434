/** Finding people by their keys in text, in any spelling in which our files have them. */
import { createReadStream } from "node:fs";
import { domainToASCII, domainToUnicode } from "node:url";
import { createErasedKey, toPersonIdentity } from "../api/key-spelling.ts";
import type { ErasedPeople } from "../bulk/index.ts";

/** @param keys of contacts; what holds an `@` is an address, and is found within other text */
export function findPeople(keys: readonly string[]): ErasedPeople {
  const finders = keys.flatMap((key) => {
    const isWithin = key.includes("@") ? isWholeAddress : isWholeValue;
    return listForms(key).map((form): Finder => ({ pattern: toPattern(form), isWithin }));
  });
  const identities = new Set(keys.map(toPersonIdentity));
  const isIn = (text: string, from = 0, to = text.length) =>
    finders.some((finder) => find(text, finder).some(({ start, end }) => start >= from && end <= to));
  return {
    isKey: (text) => identities.has(toPersonIdentity(text.replace(/^'/, ""))),
    mask(text) {
      let masked = text;
      for (const finder of finders) {
        for (const { start, end } of find(masked, finder))
          masked = masked.slice(0, start) + createErasedKey(end - start) + masked.slice(end);
      }
      return masked === text ? undefined : masked;
    },
    search: (file) => searchFile(file, isIn),
  };
}

/** Longer than any key with its escapes, in characters. */
const overlap = 16 * 1024;
/** What decides beside a key whether it is a whole one, in characters. */
const surroundings = 16;

async function searchFile(
  file: string,
  isIn: (text: string, from: number, to?: number) => boolean,
): Promise<"found" | "absent" | "unreadable"> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let from = 0;
  try {
    for await (const piece of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
      const read = decoder.decode(piece as Buffer, { stream: true });
      if (read.includes("\0")) return "unreadable";
      text += read;
      if (isIn(text, from, text.length - surroundings)) return "found";
      if (text.length <= overlap) continue;
      text = text.slice(-overlap);
      from = surroundings;
    }
    decoder.decode();
  } catch (error) {
    if (error instanceof TypeError) return "unreadable";
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return isIn(text, from) ? "found" : "absent";
}

interface Finder {
  pattern: RegExp;
  isWithin(text: string, start: number, end: number): boolean;
}

function find(text: string, { pattern, isWithin }: Finder): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const end = match.index + match[0].length;
    if (isWithin(text, match.index, end)) found.push({ start: match.index, end });
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
  return [...new Set(spelled.flatMap((form) => [form.normalize("NFC"), form.normalize("NFD")]))];
}

/** In any letter case; as it is, in JSON with every escape that it has, and in CSV. */
function toPattern(form: string): RegExp {
  const characters = [...form].map((character) => {
    const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
    const escapes = [...cases].flatMap((each) =>
      Array.from({ length: each.length }, (_, at) => each.charCodeAt(at).toString(16).padStart(4, "0"))
        .map((unit) => `\\\\{1,2}u${unit}`)
        .join(""),
    );
    const plain = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
    return `(?:${[plain, ...escapes, ...(otherForms[character] ?? [])].join("|")})`;
  });
  return new RegExp(characters.join(""), "giu");
}

const otherForms: Record<string, string[]> = {
  '"': ['""', '\\\\{1,4}"'],
  "\\": ["\\\\{2,4}"],
  "@": ["%40", "＠", "﹫"],
};

/** Behind an address in the name of a file; none of these is a top-level domain. */
const fileEnding = /^\.(?:csv|tsv|json|jsonl|ndjson|xlsx|txt|gz)(?![a-z0-9-])/i;

/** Not the end of a longer address, nor the beginning of one: `granada@x.org` is not `ada@x.org`. */
function isWholeAddress(text: string, start: number, end: number): boolean {
  if (/[\p{L}\p{N}._+-]/u.test(toAddressCharacter(readCharacterBefore(text, start)))) return false;
  const next = toAddressCharacter(readCharacterAfter(text, end));
  if (/[\p{L}\p{N}]/u.test(next)) return false;
  if (next !== "." && next !== "-") return true;
  if (fileEnding.test(text.slice(end, end + 10))) return true;
  return !/[\p{L}\p{N}]/u.test(toAddressCharacter(readCharacterAfter(text, end + 1)));
}

/** A key that is no address is found only as a whole cell, or as a whole text of JSON. */
function isWholeValue(text: string, start: number, end: number): boolean {
  const isJson = /^(?:[0-9a-f]{8} )?[\s,]*[[{]/.test(text);
  const edges = isJson ? /^["]$/ : /^(?:["\t,;|\r\n]|)$/;
  return edges.test(text.charAt(start - 1)) && edges.test(text.charAt(end));
}

/** Scripts without letter case adjoin an address without being part of it. */
function toAddressCharacter(character: string): string {
  const isPlain = character < "\u0080";
  return isPlain || /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u.test(character)
    ? character
    : " ";
}

function readCharacterBefore(text: string, start: number): string {
  const before = text.slice(Math.max(0, start - 12), start);
  // Behind an odd number of backslashes is an escape, such as that of a line break.
  const [, backslashes = "", unit] = /(\\+)(?:[nrtbf]|u([0-9a-f]{4}))$/i.exec(before) ?? [];
  if (backslashes.length % 2 === 0) return [...before].at(-1) ?? "";
  return unit === undefined ? "\n" : String.fromCharCode(Number.parseInt(unit, 16));
}

function readCharacterAfter(text: string, end: number): string {
  return [...text.slice(end, end + 2)][0] ?? "";
}
