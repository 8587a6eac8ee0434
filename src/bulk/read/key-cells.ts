/** Reading: the cell of a row that gives its key, where several columns may. */
import { isErasedKey } from "../../api/key-spelling.ts";
import type { ContactKey } from "../items.ts";
import type { KeyReader } from "./keys.ts";
import type { Row, Target } from "./rows.ts";
import { listKeyIndexes } from "./targets.ts";

export class KeyCells {
  /** The first column, and those that are used where it is empty. */
  readonly #indexes: readonly number[];
  readonly #readCell: (cells: Row["cells"], index: number) => string | undefined;
  readonly #readKey: KeyReader;

  constructor(
    targets: readonly Target[],
    readCell: (cells: Row["cells"], index: number) => string | undefined,
    readKey: KeyReader,
  ) {
    this.#indexes = listKeyIndexes(targets);
    this.#readCell = readCell;
    this.#readKey = readKey;
  }

  get areSeveral(): boolean {
    return this.#indexes.length > 1;
  }

  /** Of several columns the first that has a value, which a placeholder is not. */
  choose(cells: Row["cells"]): string {
    const [first = -1, ...fallbacks] = this.#indexes;
    const cell = this.#readCell(cells, first) ?? "";
    if (fallbacks.length === 0 || this.#hasValue(cell)) return cell;
    const others = fallbacks.map((index) => this.#readCell(cells, index) ?? "");
    return others.find((other) => this.#hasValue(other)) ?? cell;
  }

  /** What the other columns hold of the person that the row's key names; "erased" where they were erased. */
  listOthers(cells: Row["cells"], { identity: chosen }: ContactKey): ContactKey[] | "erased" {
    if (!this.areSeveral) return [];
    const written = this.#indexes.map((index) => this.#readCell(cells, index) ?? "");
    if (written.some(isErasedKey)) return "erased";
    const keys = written.map(this.#readKey).flatMap((read) => ("key" in read ? [read.key] : []));
    return keys.filter(({ identity }) => identity !== chosen);
  }

  /** All that may hold addresses of the row's contact. @param shifted how much further to the right they may be */
  listAll(cells: Row["cells"], shifted: number): string {
    const all = this.#indexes.flatMap((index) => cells.slice(index, index + 1 + shifted));
    return all.map((cell) => cell ?? "").join(" ");
  }

  #hasValue(cell: string): boolean {
    const read = this.#readKey(cell);
    return !("code" in read) || (read.code !== "key_missing" && read.code !== "key_placeholder");
  }
}
