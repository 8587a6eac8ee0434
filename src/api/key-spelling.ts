/** How a contact's key may be spelled, and which spellings mean the same person. Pure; judges no key. */
import { domainToASCII, domainToUnicode } from "node:url";
import { isEmailKey } from "./structures.ts";

/** Blanks, no-break and ideographic spaces, zero-width marks, byte-order marks, bidirectional marks. */
export const invisible =
  "\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0";
const atEdge = new RegExp(`[${invisible}]`, "u");

/** Without blanks and invisible marks at its edges. */
export function trimEdges(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isAtEdge(text, start)) start += 1;
  while (end > start && isAtEdge(text, end - 1)) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function isAtEdge(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit > 32 && unit < 127) return false;
  return atEdge.test(text[index]!);
}

/** Whether a text has the form of an address, also of one that an import would refuse. */
export function isAddressLike(text: string): boolean {
  return /.[@＠﹫]./su.test(trimEdges(text));
}

/** Removes what surrounds an address: `mailto:`, `Name <…>`, leading apostrophes; folds full-width signs. */
export function unwrapAddress(text: string): string {
  let address = text;
  const wrapped = /^[^<>]*<([^<>]*)>$/.exec(address);
  if (wrapped) address = trimEdges(wrapped[1]!);
  const link = /^(?:mailto:)+/i.exec(address);
  if (link) address = trimEdges(address.slice(link[0].length).split("?", 1)[0]!);
  address = trimEdges(address.replace(/^['’]+/, ""));
  return address.replace(/[＠﹫]/g, "@").replace(/[．。｡]/g, ".");
}

/** A domain in lower case, without the dot of the root, in ASCII; empty where a label has no such form. */
export function toAsciiDomain(written: string): string {
  const plain = toPlainDomain(written);
  // The URL parser behind this would read ports, paths and percent signs too.
  const isForeign = /[^\x00-\x7f]|(?:^|\.)xn--/.test(plain) && !/[/?#\\@:%[\]<>^|]/.test(plain);
  return isForeign ? toAsciiLabels(plain) : plain;
}

export function toPlainDomain(written: string): string {
  return written.toLowerCase().replace(/\.$/, "");
}

/**
 * A domain with its labels in ASCII; empty where one of them is invalid. A label that is not ASCII is put in
 * front: from version 24 on, Node does not check labels that begin with `xn--` in a domain of ASCII alone.
 */
function toAsciiLabels(domain: string): string {
  return domainToASCII(`\u00e9.${domain}`).replace(/^xn--9ca\./, "");
}

/**
 * A key as it is sent: of an address the address alone, its domain in ASCII; any other key only trimmed. Its
 * letter case stays.
 */
export function normalizeKey(key: string, keyType: string | undefined): string {
  if (!isEmailKey(keyType)) return trimEdges(key);
  const address = normalizeAddress(key);
  return address.toLowerCase() === key.toLowerCase() ? key : address;
}

/** What makes two keys one contact: a normal key; of an address whatever its letter case. */
export function toKeyIdentity(key: string, keyType: string | undefined): string {
  return isEmailKey(keyType) ? normalizeAddress(key).toLowerCase() : trimEdges(key);
}

/**
 * What makes two keys one person where the type of key is not known: what holds an `@` is read as an address.
 */
export function toPersonIdentity(key: string): string {
  return toKeyIdentity(key, /[@＠﹫]/.test(key) ? "email" : undefined);
}

function normalizeAddress(text: string): string {
  const address = unwrapAddress(trimEdges(text.normalize("NFC")));
  const at = address.lastIndexOf("@");
  if (at < 0) return address;
  const domain = address.slice(at + 1);
  return `${address.slice(0, at)}@${toAsciiDomain(domain) || toPlainDomain(domain)}`;
}

/**
 * The spellings under which an account may hold a person: as typed, as it is sent, with its domain as people
 * read it, and in lower case.
 */
export function listSpellings(key: string): string[] {
  const typed = trimEdges(key);
  if (!/[@＠﹫]/.test(key)) return [typed];
  const address = normalizeAddress(key);
  const at = address.lastIndexOf("@") + 1;
  const readable = address.slice(0, at) + domainToUnicode(address.slice(at));
  return [...new Set([typed, address, readable, address.toLowerCase()])];
}

const erasedWord = "erased";

/** What stands in place of a key that was erased, as long as it was. */
export function createErasedKey(length: number): string {
  return erasedWord.padEnd(length, "-").slice(0, length);
}

export function isErasedKey(key: string): boolean {
  return key.startsWith(erasedWord) && key === createErasedKey(key.length);
}
