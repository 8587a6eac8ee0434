/** Reading: the cell of a row that gives its key, where several columns may. */
import { isErasedKey } from "../../api/key-spelling.ts";
import type { Cells, ContactKey } from "../items.ts";
import { listKeyIndexes } from "./columns/targets.ts";
import type { KeyReader } from "./keys.ts";
import type { Reason, Target } from "./rows.ts";

export class KeyCells {
  /** The first column, and those that are used where it is empty. */
  readonly #indexes: readonly number[];
  /** Of the key under which the person was known before; -1 without one. */
  readonly #oldIndex: number;
  readonly #readCell: (cells: Cells, index: number) => string | undefined;
  readonly #readKey: KeyReader;

  constructor(
    targets: readonly Target[],
    readCell: (cells: Cells, index: number) => string | undefined,
    readKey: KeyReader,
  ) {
    this.#indexes = listKeyIndexes(targets);
    this.#oldIndex = targets.findIndex(({ kind }) => kind === "old-key");
    this.#readCell = readCell;
    this.#readKey = readKey;
  }

  /** Whether a row may have several addresses of its person, each in a column of its own. */
  get areSeveral(): boolean {
    return this.#indexes.length > 1 || this.#oldIndex >= 0;
  }

  /** Of several columns the first that has a value, which a placeholder is not. */
  choose(cells: Cells): string {
    const [first = -1, ...fallbacks] = this.#indexes;
    const cell = this.#readCell(cells, first) ?? "";
    if (fallbacks.length === 0 || this.#hasValue(cell)) return cell;
    const others = fallbacks.map((index) => this.#readCell(cells, index) ?? "");
    return others.find((other) => this.#hasValue(other)) ?? cell;
  }

  /**
   * What the other columns hold of the person that the row's key names; "erased" where they were erased, a reason
   * where one cannot be read: whether the person has left under it is not known.
   * @param chosen the cell of the row's key, which may be read in a way of its own
   */
  listOthers(cells: Cells, chosen: string, key: ContactKey): ContactKey[] | Reason | "erased" {
    if (this.#indexes.length === 1) return [];
    const written = this.#indexes.map((index) => this.#readCell(cells, index) ?? "");
    if (written.some(isErasedKey)) return "erased";
    const others: ContactKey[] = [];
    for (const cell of written) {
      if (cell === chosen) continue;
      const read = readFurtherKey(cell, this.#readKey, "further");
      if (read && "code" in read) return read;
      if (read && read.identity !== key.identity) others.push(read);
    }
    return others;
  }

  /** Undefined where the row names none; who was erased under it must not come back under another one. */
  readOld(cells: Cells): ContactKey | Reason | "erased" | undefined {
    if (this.#oldIndex < 0) return undefined;
    const cell = this.#readCell(cells, this.#oldIndex) ?? "";
    return isErasedKey(cell) ? "erased" : readFurtherKey(cell, this.#readKey, "old");
  }

  /** All that may hold addresses of the row's person. @param shifted how much further to the right they may be */
  listAll(cells: Cells, shifted: number): string {
    const indexes = this.#oldIndex < 0 ? this.#indexes : [...this.#indexes, this.#oldIndex];
    const all = indexes.flatMap((index) => cells.slice(index, index + 1 + shifted));
    return all.map((cell) => cell ?? "").join(" ");
  }

  #hasValue(cell: string): boolean {
    return readFurtherKey(cell, this.#readKey, "further") !== undefined;
  }
}

/** A key that a row has besides its own; undefined where the cell holds none. */
function readFurtherKey(
  cell: string,
  readKey: KeyReader,
  which: "old" | "further",
): ContactKey | Reason | undefined {
  const read = readKey(cell);
  if ("key" in read) return read.key;
  if (read.code === "key_missing" || read.code === "key_placeholder") return undefined;
  return {
    code: `${which}_key_invalid`,
    message: `the ${which} key ${JSON.stringify(cell.trim())}: ${read.message}`,
  };
}
