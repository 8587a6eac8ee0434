/** The request of `ecm api` from its flags: a body of members, and names in a path → ids. */
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { readDataInput } from "../../terminal/data-input.ts";

export interface FieldFlags {
  /** `-f`: strings. */
  field?: string[];
  /** `-F`: true, false, null, numbers, `@FILE`; anything else is a string. */
  typedField?: string[];
}

/** The JSON body of `-f` and `-F`; undefined without them. @throws UsageError */
export async function buildBody(
  context: Context,
  { field = [], typedField = [] }: FieldFlags,
): Promise<string | undefined> {
  if (field.length + typedField.length === 0) return undefined;
  const members = new Map<string, unknown>();
  const add = (flag: string, text: string, value: unknown) => {
    const name = text.slice(0, text.indexOf("="));
    if (members.has(name)) throw new UsageError(`${flag}: the member ${JSON.stringify(name)} is given twice`);
    members.set(name, value);
  };
  for (const text of field) add("-f", text, readFieldValue("-f", text));
  for (const text of typedField) add("-F", text, await parseTypedValue(context, readFieldValue("-F", text)));
  return JSON.stringify(Object.fromEntries(members));
}

function readFieldValue(flag: string, text: string): string {
  const at = text.indexOf("=");
  if (at > 0) return text.slice(at + 1);
  throw new UsageError(
    `${flag}: ${JSON.stringify(text)} is not NAME=VALUE`,
    `Such as ${flag} name=Newsletter`,
  );
}

async function parseTypedValue(context: Context, text: string): Promise<unknown> {
  if (text === "@") throw new UsageError("-F: the name of the file is empty", "Such as -F note=@note.txt");
  if (text.startsWith("@")) return readDataInput(context, text.slice(1), "-F");
  const isTyped = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(text);
  const value: unknown = isTyped ? JSON.parse(text) : text;
  // A number that JavaScript cannot hold would be sent as another one, or as null.
  if (
    typeof value === "number" &&
    (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
  ) {
    throw new UsageError(`-F: ${text} is too large to be sent exactly`, "Send the body with --data");
  }
  return value;
}

const placeholder = /\{(structure|list|contact)(?::([^{}]*))?\}/g;

/**
 * The path with ids in place of `{structure}`, `{structure:LABEL}`, `{list:NAME}` and `{contact:KEY}`. Sends
 * nothing when there is none. @throws NotFoundError, UsageError
 */
export async function resolvePath(context: Context, path: string): Promise<string> {
  const found = [...path.matchAll(placeholder)];
  if (found.length === 0) return path;
  const connection = await context.connect();
  const { account } = connection;
  const ids: string[] = [];
  for (const [text, kind, name] of found) {
    if (kind !== "structure" && !name) {
      throw new UsageError(
        `${text} does not name a ${kind}`,
        `Such as {${kind}:${kind === "list" ? "Newsletter" : "ada@example.com"}}`,
      );
    }
    ids.push(encodeURIComponent(await resolveId(kind!, name)));
  }
  return path.replace(placeholder, () => ids.shift()!);

  async function resolveId(kind: string, name: string | undefined): Promise<string> {
    if (kind === "structure") return (await account.structure(name || undefined))._id;
    const structure = await account.structure();
    if (kind === "list") return (await account.list(structure, name!))._id;
    const { resolveContact } = await import("./resolve-contact.ts");
    return (await resolveContact(connection, name!))._id;
  }
}
