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

/** The same for every text in a JSON value, names included. Returns a value that is free of the key as it is. */
export function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact(value);
  if (typeof value === "number") return redact(String(value)) === String(value) ? value : shown;
  if (Array.isArray(value)) return value.map((each) => redactValue(each, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [redact(name), redactValue(each, redact)]),
  );
}

/** The same for a body: what was JSON stays JSON. */
export function redactBody(text: string, redact: Redact): string {
  const clean = redact(text);
  if (clean === text) return text;
  try {
    return JSON.stringify(redactValue(JSON.parse(text), redact));
  } catch {
    return clean;
  }
}
