/** Lists, tags and fields that do not exist yet: how they are named until they do, and how people are told of them. */
import { NotFoundError } from "../../errors.ts";
import { closest, fold } from "../../service/names.ts";
import { type NewField, newFieldId, newFieldLabel } from "../read/new-fields.ts";

/** A list, a tag or a field that does not exist yet. */
export interface Creation {
  what: "list" | "tag" | "field";
  name: string;
  dataType?: string;
}

/** A list or tag that the account does not have. */
export interface MissingName {
  name: string;
  /** One that the account has and whose name is nearly the same. */
  near?: string;
  /** What it would be if a semicolon or a bar in it separated several names. */
  parts?: string[];
}

export interface MissingNames {
  lists: MissingName[];
  tags: MissingName[];
  /** Fields that a person has agreed to create. */
  fields: readonly NewField[];
}

/** What is missing, where nobody has agreed to create it. */
export class MissingNamesError extends NotFoundError {
  readonly missing: MissingNames;

  constructor(missing: MissingNames) {
    const { lists, tags } = missing;
    const parts = [partOf("list", lists), partOf("tag", tags)].filter((part) => part !== "");
    const hints = [...doubtsAbout(missing), "Fix the names, or create what is missing with --create-missing"];
    super(`The account has no ${parts.join(", and no ")}`, hints.join("; "));
    this.missing = missing;
  }
}

/** What is not made yet has a stand-in for its id. No id holds a blank. */
const newList = "new list ";
const newTag = "new tag ";

/** The name behind a stand-in; undefined for an id. */
export function standInName(id: string): string | undefined {
  for (const start of [newList, newTag]) if (id.startsWith(start)) return id.slice(start.length);
  return newFieldLabel(id);
}

/** How operations name what does not exist yet. */
export function standInFor({ what, name }: Creation): string {
  if (what === "field") return newFieldId(name);
  return `${what === "list" ? newList : newTag}${name}`;
}

/** Names that differ in letter case alone mean one thing. */
export function missingAmong(wanted: string[], there: string[]): MissingName[] {
  const byFold = new Map(wanted.toReversed().map((name) => [fold(name), name]));
  return [...byFold.values()].toReversed().map((name) => {
    const near = slipOf(name, there);
    const parts = name
      .split(/[;|]/)
      .map((part) => part.trim())
      .filter((part) => part !== "");
    return { name, ...(near !== undefined && { near }), ...(parts.length > 1 && { parts }) };
  });
}

function partOf(kind: string, names: MissingName[]): string {
  if (names.length === 0) return "";
  return `${kind}${names.length > 1 ? "s" : ""} ${names.map(({ name }) => JSON.stringify(name)).join(", ")}`;
}

/** The name that was probably meant. Short names, and names that differ in their numbers, are meant as they are. */
function slipOf(name: string, there: string[]): string | undefined {
  if (name.length < 4) return undefined;
  const near = closest(name, there);
  const letters = (text: string) => fold(text).replace(/\d+/g, "");
  return near !== undefined && letters(near) !== letters(name) ? near : undefined;
}

/** Names that may be misspelled, and cells that may hold several names, each in a sentence. */
export function doubtsAbout({ lists, tags }: Pick<MissingNames, "lists" | "tags">): string[] {
  const doubts: string[] = [];
  for (const { name, near } of [...lists, ...tags]) {
    if (near !== undefined) doubts.push(`${JSON.stringify(name)}: did you mean ${JSON.stringify(near)}?`);
  }
  for (const { name, parts } of [...lists, ...tags]) {
    if (parts) {
      doubts.push(
        `${JSON.stringify(name)} is read as one name; several names in a cell are separated by commas: "${parts.join(", ")}"`,
      );
    }
  }
  return doubts.length > doubtsShown
    ? [...doubts.slice(0, doubtsShown), `and ${doubts.length - doubtsShown} more`]
    : doubts;
}

const doubtsShown = 10;
