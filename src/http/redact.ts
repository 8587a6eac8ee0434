/** The API key kept out of everything that leaves the line: answers, events, messages, causes. Pure. */

const shown = "[redacted]";
/** Shorter texts are no keys, and would stand in innocent words. */
const shortestKey = 8;

export type Redact = (text: string) => string;

/** Takes the key out of a text, as it is and in the spellings that JSON, an address or Base64 give it. */
export function redactorFor(key: string): Redact {
  if (key.length < shortestKey) return (text) => text;
  const spellings = new Set([
    key,
    JSON.stringify(key).slice(1, -1),
    encodeURIComponent(key),
    Buffer.from(key).toString("base64"),
    Buffer.from(key).toString("base64url"),
  ]);
  // The longest first, so that none leaves a part of another behind.
  const ordered = [...spellings].sort((one, other) => other.length - one.length);
  return (text) => {
    let clean = text;
    for (const spelling of ordered) if (clean.includes(spelling)) clean = clean.replaceAll(spelling, shown);
    return clean;
  };
}

/** The same for every string in a value. */
export function redactHeaders(headers: Record<string, string>, redact: Redact): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [redact(name), redact(value)]));
}
