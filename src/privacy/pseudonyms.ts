/**
 * Stand-ins for what is somebody's: addresses, keys, ids, names and values, each the same one wherever it
 * occurs. What a member may hold is listed; the text of every other member is replaced, so that a member
 * nobody thought of gives nothing away. Pure.
 */

export interface Pseudonyms {
  /** A JSON value with every text replaced that is not known to be harmless. */
  mask(value: unknown, member?: string): unknown;
  /** A path: ids in it are replaced. */
  maskPath(path: string): string;
}

/** Members whose texts are words of the service or times. */
const plainMembers = new Set([
  "errorType",
  "columnToFilter",
  "operator",
  "source",
  "dataType",
  "predefinedField",
  "keyType",
  "type",
  "primary",
  "secondary",
  "contactStatus",
  "contactSubStatus",
  "createdAt",
  "updatedAt",
  "timestamp",
  "field",
]);
/** Texts that are cut to the words that may hold something of an account. */
const messageMembers = new Set(["message"]);

const idForm = /[0-9a-f]{24}/gi;
const addressForm = /[^\s@"'<>,;:()[\]{}]+@[^\s@"'<>,;:()[\]{}]+/gu;
const wordForm = /^[A-Za-z0-9_.:+[\] -]{0,60}$/;

export function createPseudonyms(): Pseudonyms {
  const standIns = new Map<string, string>();
  const counts = new Map<string, number>();

  /** The same for every letter case of an address; one in capitals stays in capitals. */
  function findStandIn(kind: string, text: string, form: (count: number) => string): string {
    const name = `${kind} ${text.toLowerCase()}`;
    let found = standIns.get(name);
    if (found === undefined) {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      found = form(count);
      standIns.set(name, found);
    }
    return text !== text.toLowerCase() && text === text.toUpperCase() ? found.toUpperCase() : found;
  }

  const maskId = (text: string) =>
    findStandIn("id", text.toLowerCase(), (count) => count.toString(16).padStart(24, "0"));
  const maskAddress = (text: string) => findStandIn("address", text, (count) => `person${count}@example.com`);
  const maskOther = (text: string) =>
    text === "" ? "" : findStandIn("text", text, (count) => `text-${count}`);

  function maskText(text: string, member: string): string {
    if (/^[0-9a-f]{24}$/i.test(text)) return maskId(text);
    if (messageMembers.has(member)) return maskMessage(text);
    if (/^[^\s@]+@[^\s@]+$/u.test(text)) return maskAddress(text);
    if (plainMembers.has(member) && wordForm.test(text)) return text;
    return maskOther(text);
  }

  function maskMessage(text: string): string {
    let masked = text.replace(addressForm, maskAddress).replace(idForm, maskId);
    for (const [name, replacement] of standIns) {
      const original = name.startsWith("text ") ? name.slice(5) : "";
      if (original.length < 3) continue;
      masked = replaceAll(masked, original, replacement);
    }
    // What is quoted was typed by somebody.
    return masked.replace(/"([^"]*)"/g, (_whole, quoted: string) =>
      /^(person\d+@example\.com|text-\d+|[0-9a-f]{24})$/i.test(quoted)
        ? `"${quoted}"`
        : `"${maskOther(quoted)}"`,
    );
  }

  function mask(value: unknown, member = ""): unknown {
    if (typeof value === "string") return maskText(value, member);
    if (Array.isArray(value)) return value.map((each) => mask(each, member));
    if (typeof value !== "object" || value === null) return value;
    const column = (value as { columnToFilter?: unknown }).columnToFilter;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        const inner = name === "values" && column === "CONTACT_STATUS" ? "contactStatus" : name;
        return [maskName(name), mask(each, inner)];
      }),
    );
  }

  /** Members are named by the service; one that looks like an id or an address is not. */
  function maskName(name: string): string {
    return name.replace(addressForm, maskAddress).replace(/^[0-9a-f]{24}$/i, maskId);
  }

  return { mask, maskPath: (path) => path.replace(idForm, maskId) };
}

/** Without regard to letter case. */
function replaceAll(text: string, searched: string, replacement: string): string {
  const pattern = searched.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return text.replace(new RegExp(pattern, "gi"), () => replacement);
}
