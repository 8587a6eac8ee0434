/** `--mapping FILE`: where each column goes, in YAML or JSON. */
import { readFile, writeFile } from "node:fs/promises";
import { describeDiskError } from "../../disk/disk-errors.ts";
import { readTextIfThere } from "../../disk/walk.ts";
import { isKind, usageError } from "../../errors.ts";
import type { ColumnTarget } from "../rows.ts";

const example = 'Write lines such as E-mail: key, or Interests: { target: tags, split: ";" }';

/**
 * Every scalar is the text as it is written: `01` and `no` stay what they are.
 * @throws UsageError naming the file, the line and what is wrong
 */
export async function readMapping(file: string): Promise<Map<string, ColumnTarget>> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw usageError(`--mapping: cannot read ${file}: ${describeDiskError(error)}`, "Check the path");
  });
  const { LineCounter, parseDocument } = await import("yaml");
  const lineCounter = new LineCounter();
  const fail = (what: string, offset?: number) => {
    const line = offset === undefined ? "" : `:${lineCounter.linePos(offset).line}`;
    return usageError(`--mapping: ${file}${line}: ${what}`, example);
  };
  let values: unknown;
  let items: { key: { range?: number[] } | null }[] | undefined;
  try {
    // JSON is YAML, too.
    const document = parseDocument(text.replace(/^\ufeff/, ""), {
      schema: "failsafe",
      lineCounter,
      logLevel: "silent",
      prettyErrors: false,
    });
    const [problem] = document.errors;
    if (problem) throw fail(problem.message, problem.pos[0]);
    values = document.toJS({ mapAsMap: true });
    items = (document.contents as { items?: typeof items } | null)?.items;
  } catch (error) {
    // It may be nested so deeply that the library cannot follow.
    throw isKind(error, "usage") ? error : fail((error as Error).message);
  }
  if (!(values instanceof Map)) throw fail("it is not a mapping of columns");
  return new Map(
    [...values].map(([column, value], place) => {
      const failHere = (what: string) => fail(what, items?.[place]?.key?.range?.[0] ?? 0);
      if (typeof column !== "string") throw failHere("a name is not text");
      return [column, readTarget(column, value, failHere)];
    }),
  );
}

/** A target, or `{ target: tags, split: ";" }`. */
function readTarget(column: string, value: unknown, fail: (what: string) => Error): ColumnTarget {
  const quoted = JSON.stringify(column);
  if (typeof value === "string" && value !== "") return value;
  if (!(value instanceof Map)) throw fail(`the target of ${quoted} is not text`);
  for (const [name, member] of value) {
    if (name !== "target" && name !== "split")
      throw fail(`${quoted}: unknown member ${JSON.stringify(name)}`);
    if (typeof member !== "string" || member === "") throw fail(`${quoted}: ${name} is not text`);
  }
  const target: string | undefined = value.get("target");
  const split: string | undefined = value.get("split");
  if (target === undefined) throw fail(`${quoted} has no target`);
  if (split === undefined) return target;
  if (/^\s*(?:tags|lists)\s*$/i.test(target)) return { target, split };
  throw fail(`${quoted}: only a column of tags or lists is split`);
}

const heading = "# Where the columns of a file go: key, lists, tags, consent, ignore, or a field.";

/**
 * Writes what `readMapping` reads. A file that is there is replaced only where this function has written it:
 * what a person wrote is never lost.
 * @returns whether it was written
 * @throws UsageError when it cannot be written
 */
export async function writeMapping(
  file: string,
  mapping: Iterable<readonly [column: string, target: ColumnTarget]>,
): Promise<boolean> {
  const { stringify } = await import("yaml");
  try {
    const before = await readTextIfThere(file);
    if (before !== undefined && !before.startsWith(heading)) return false;
    await writeFile(file, `${heading}\n${stringify(new Map(mapping))}`);
    return true;
  } catch (error) {
    throw usageError(`Cannot write ${file}: ${describeDiskError(error)}`);
  }
}
