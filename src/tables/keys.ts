/** Keys: a cell → the contact's key in the forms that the engine needs, or the reason why it is none. */

import { distance } from "fastest-levenshtein";
import emailModule from "validator/lib/isEmail.js";
import {
  invisible,
  toAsciiDomain,
  toKeyIdentity,
  toPlainDomain,
  trimEdges,
  unwrapAddress,
} from "../api/key-spelling.ts";
import { countSlips, isId } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { type Cells, type ContactKey, splitNames } from "./cells.ts";
import type { Reason, Warning } from "./rows.ts";

export type KeyReading =
  | {
      key: ContactKey;
      warnings: Warning[];
      /** Why no contact may be created with it. */
      fault?: Reason;
    }
  | Reason;

export type KeyReader = (cell: string) => KeyReading;

/** Takes ids besides keys: for files that name contacts and create none. */
export function acceptIds(read: KeyReader): KeyReader {
  return (cell) => {
    const id = cell.trim();
    if (!isId(id)) return read(cell);
    return { key: { written: id, sent: id, identity: id.toLowerCase() }, warnings: [] };
  };
}

const inside = new RegExp(`[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Cn}${invisible}]`, "u");
const insideAnywhere = new RegExp(inside, "gu");

const plainAddress = /^[A-Za-z0-9][\w.!#$%&*+/=?^`{|}~'-]*@[A-Za-z0-9.-]+$/;
const placeholders =
  /^(?:n\.?\/?a\.?|none|null|nil|nan|undefined|unknown|no ?e-?mail|no|not provided|keine?|inconnu|ninguno|なし|無し|[-–—_.?x*#]+|(?:none|no|na|noemail|unknown|test)@(?:none|no|na|noemail|unknown)(?:\.com)?)$/iu;

const maxLocalLength = 64;
const maxAddressLength = 254;
/** Reads the cells of a key column. It remembers the domains that it has seen; use one for each file. */
export function createKeyReader(keyType: string): KeyReader {
  if (!isEmailKey(keyType)) return readPlainKey;
  const domains = new Map<string, DomainReading>();
  return (cell) =>
    readAddress(cell, (written) => {
      const known = domains.get(written);
      if (known) return known;
      // A file of a million private domains must not stay in memory.
      if (domains.size >= 10_000) domains.clear();
      const reading = readDomain(written);
      domains.set(written, reading);
      return reading;
    });
}

/** A function from a key, in whatever form, to what makes two keys one contact. Use one for many keys. */
export function createIdentityReader(keyType: string): (key: string) => string {
  const read = createKeyReader(keyType);
  return (key) => {
    const reading = read(key);
    return "key" in reading ? reading.key.identity : toKeyIdentity(key, keyType);
  };
}

const addressSeparators = /[\s,;|/\\<>()[\]{}"“”„«»]+/u;
const domainAtStart = /^[\p{L}\p{N}.-]*/u;
const signsBeforeAddress = /^(?:.*[/:=&]|[^\p{L}\p{N}]+)/su;

/**
 * Every address that a text holds, however it is written: several of them, with remarks, with a blank or a
 * line break inside or between, behind signs that can be part of one.
 */
export function findAddresses(text: string): string[] {
  const folded = text.normalize("NFKC");
  const readings = new Set(["", " "].map((mark) => folded.replace(/[\p{Cc}\p{Cf}]/gu, mark)));
  const found = [...readings]
    .flatMap((reading) => splitWords(reading).flatMap((word) => [word, ...splitAddresses(word)]))
    .concat(text.trim())
    .map((part) => part.replace(/^[.:'’‘`*=-]+|[.:!?'’‘`*-]+$/gu, ""))
    .filter((part) => /.@./.test(part));
  return [...new Set(found)];
}

function splitWords(text: string): string[] {
  return text
    .replace(/mailto:/gi, " ")
    .replace(/\s*[([{]\s*(?:at|ät|@)\s*[)\]}]\s*/gi, "@")
    .replace(/\s*([@.])\s*/g, "$1")
    .split(addressSeparators);
}

/** `a@x.org:b@x.org` is two. */
function splitAddresses(word: string): string[] {
  const addresses: string[] = [];
  let [local = "", ...parts] = word.split("@");
  for (const part of parts) {
    const [domain] = domainAtStart.exec(part)!;
    addresses.push(`${local}@${domain}`, `${local.replace(signsBeforeAddress, "")}@${domain}`);
    local = part.slice(domain.length);
  }
  return addresses;
}

/** Whatever the cells of a row may name a contact by, as it is written; too many do no harm. */
export function* listPossibleKeys(cells: Cells): Generator<string> {
  for (const cell of cells) {
    if (cell === undefined) continue;
    yield cell;
    yield* findAddresses(cell);
    yield* findAddresses(cell.normalize("NFKC").replace(insideAnywhere, ""));
  }
}

function readPlainKey(cell: string): KeyReading {
  const sent = trimEdges(cell);
  if (sent === "") return { code: "key_missing", message: "the key is missing" };
  return { key: { written: sent, sent, identity: sent }, warnings: [] };
}

function readAddress(cell: string, readCachedDomain: (written: string) => DomainReading): KeyReading {
  const written = trimEdges(cell);
  if (written === "") return { code: "key_missing", message: "no email address" };
  const address = plainAddress.test(written) ? written : unwrapAddress(written.normalize("NFC"));
  const at = address.lastIndexOf("@");
  const fault = faults.find(([, , is]) => is(address, at));
  if (fault) return toFault(fault[0], fault[1], address);
  const local = address.slice(0, at);
  const domain = readCachedDomain(address.slice(at + 1));
  if (local.length > maxLocalLength || local.length + 1 + domain.ascii.length > maxAddressLength)
    return toFault("key_too_long", "the address is longer than mail allows", address);
  if (/[^\x00-\x7f]/.test(local)) {
    const says = "accented letters before the @, which the service's own addresses do not have";
    return toFault("key_non_ascii_local", says, address);
  }
  if (!domain.isValid || !localPart.test(local))
    return toFault("key_syntax", "not an email address", address);
  const sent = `${local}@${domain.ascii}`;
  const warnings: Warning[] = [];
  if (domain.suggestion) warnings.push("likely_typo");
  if (roles.has(local.toLowerCase())) warnings.push("role_address");
  return { key: { written, sent, identity: sent.toLowerCase() }, warnings };
}

/** What is wrong with an address before its parts are looked at: the first of these. `at`: its last @. */
const faults: readonly [code: string, says: string, is: (address: string, at: number) => boolean][] = [
  ["key_placeholder", "a placeholder, not an address", (address) => placeholders.test(address)],
  ["key_quoted_local", "addresses with quotes are not accepted", (address) => /^"(?:.*")?@/s.test(address)],
  [
    "key_several_addresses",
    "the cell has more than one address",
    (address, at) => /[\s,;|/:<>]/.test(address.slice(address.indexOf("@"), at + 1)),
  ],
  ["key_syntax", "the address has a blank inside", (address) => inside.exec(address)?.[0] === " "],
  [
    "key_invisible_character",
    "the address has an invisible character inside",
    (address) => inside.test(address),
  ],
  ["key_syntax", "not an email address", (address, at) => at < 1 || at === address.length - 1],
  [
    "key_address_literal",
    "the domain must be a name, not a number",
    (address, at) => address[at + 1] === "[",
  ],
];

function toFault(code: string, says: string, address: string): Reason {
  const excerpt = address.length > 80 ? `${address.slice(0, 79)}…` : address;
  const shown = excerpt.replace(insideAnywhere, (hidden) =>
    hidden === " " ? hidden : `U+${hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
  );
  return { code, message: `${says}: ${shown}` };
}

const localPart = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

interface DomainReading {
  /** Lower case, A-label form; as written when it is no domain. */
  ascii: string;
  isValid: boolean;
  /** The big domain that was probably meant. */
  suggestion?: string;
}

function readDomain(written: string): DomainReading {
  const ascii = toAsciiDomain(written);
  // With a plain local part, what the library judges is the domain.
  const isValid = ascii !== "" && emailModule.default(`a@${ascii}`, { allow_utf8_local_part: false });
  const suggestion = isValid ? suggestDomain(ascii) : undefined;
  return { ascii: ascii || toPlainDomain(written), isValid, suggestion };
}

/** The domain of a big provider that is one typo away from this one. */
function suggestDomain(domain: string): string | undefined {
  if (bigDomains.includes(domain) || neighbours.has(domain)) return undefined;
  // Two letters in the wrong order are one slip, which the plain distance counts as two.
  return bigDomains.find((big) => distance(big, domain) <= 2 && countSlips(domain, big) === 1);
}

const bigDomains = splitNames(
  `gmail.com, googlemail.com, hotmail.com, hotmail.co.uk, hotmail.fr, hotmail.de, hotmail.it, outlook.com,
  yahoo.com, yahoo.co.uk, yahoo.co.jp, yahoo.fr, yahoo.de, icloud.com, comcast.net, verizon.net,
  t-online.de, freenet.de, wanadoo.fr, orange.fr, laposte.net, libero.it, virgilio.it, yandex.ru,
  docomo.ne.jp, ezweb.ne.jp, softbank.ne.jp`,
);

/** Real domains that differ from a big one by a letter. */
const neighbours = new Set(
  splitNames(
    `mail.com, email.com, ymail.com, outlook.co, yahoo.ca, hotmail.ca, hotmail.se, hotmail.ch, hotmail.be,
  hotmail.es, yahoo.es, yahoo.se, yahoo.be`,
  ),
);

/** Local parts of addresses that are no person's. */
const roles = new Set(
  splitNames(
    `abuse, admin, administrator, billing, contact, devnull, help, hello, hostmaster, hr, info, jobs,
  kontakt, mail, marketing, newsletter, no-reply, noreply, office, postmaster, press, root, sales,
  security, service, spam, support, team, webmaster`,
  ),
);
