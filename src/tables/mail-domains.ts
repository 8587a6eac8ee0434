/** Reading: domains and local parts of addresses that something can be said of. */
import { distance } from "fastest-levenshtein";

/** The domain of a big provider that is one typo away from this one. */
export function suggestDomain(domain: string): string | undefined {
  if (bigDomains.includes(domain) || neighbours.has(domain)) return undefined;
  return bigDomains.find(
    (big) =>
      Math.abs(big.length - domain.length) <= 1 &&
      (distance(big, domain) === 1 || isTransposition(big, domain)),
  );
}

function isTransposition(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  const at = [...one].findIndex((letter, index) => letter !== other[index]);
  return (
    at >= 0 &&
    one[at] === other[at + 1] &&
    one[at + 1] === other[at] &&
    one.slice(at + 2) === other.slice(at + 2)
  );
}

/** Carriers whose addresses may have dots where no other address has. */
export const carriers = new Set(["docomo.ne.jp", "ezweb.ne.jp", "au.com"]);

const bigDomains = [
  "gmail.com",
  "googlemail.com",
  "hotmail.com",
  "hotmail.co.uk",
  "hotmail.fr",
  "hotmail.de",
  "hotmail.it",
  "outlook.com",
  "yahoo.com",
  "yahoo.co.uk",
  "yahoo.co.jp",
  "yahoo.fr",
  "yahoo.de",
  "icloud.com",
  "comcast.net",
  "verizon.net",
  "t-online.de",
  "freenet.de",
  "wanadoo.fr",
  "orange.fr",
  "laposte.net",
  "libero.it",
  "virgilio.it",
  "yandex.ru",
  "docomo.ne.jp",
  "ezweb.ne.jp",
  "softbank.ne.jp",
];

/** Real domains that differ from a big one by a letter. */
const neighbours = new Set([
  "mail.com",
  "email.com",
  "ymail.com",
  "outlook.co",
  "yahoo.ca",
  "hotmail.ca",
  "hotmail.se",
  "hotmail.ch",
  "hotmail.be",
  "hotmail.es",
  "yahoo.es",
  "yahoo.se",
  "yahoo.be",
]);

/** Local parts of addresses that are no person's. */
export const roles = new Set([
  "abuse",
  "admin",
  "administrator",
  "billing",
  "contact",
  "devnull",
  "help",
  "hello",
  "hostmaster",
  "hr",
  "info",
  "jobs",
  "kontakt",
  "mail",
  "marketing",
  "newsletter",
  "no-reply",
  "noreply",
  "office",
  "postmaster",
  "press",
  "root",
  "sales",
  "security",
  "service",
  "spam",
  "support",
  "team",
  "webmaster",
]);
