/** The ids that were read, in little memory: an account may hold millions. */
import { blockSize, TextIndex } from "../text-index.ts";

/** As the service writes ids. */
const hexId = /^[0-9a-f]{24}$/;
const idBytes = 12;

/** Ids of 24 hexadecimal digits take 24 bytes each; any other text is kept as it is. */
export class IdSet {
  readonly #unusual = new Set<string>();
  readonly #index = new TextIndex();
  /** The ids in the order of their places in the index. */
  readonly #blocks: Buffer[] = [];

  /** @param ids what it holds at first */
  constructor(ids: Iterable<string> = []) {
    for (const id of ids) this.add(id);
  }

  /** @returns whether it was not in the set before */
  add(id: string): boolean {
    if (!hexId.test(id)) {
      const before = this.#unusual.size;
      return this.#unusual.add(id).size > before;
    }
    for (const place of this.#index.find(id)) if (this.#idAt(place) === id) return false;
    const at = this.#index.add(id) % blockSize;
    if (at === 0) this.#blocks.push(Buffer.alloc(blockSize * idBytes));
    this.#blocks.at(-1)!.write(id, at * idBytes, "hex");
    return true;
  }

  get size(): number {
    return this.#index.size + this.#unusual.size;
  }

  #idAt(place: number): string {
    const start = (place % blockSize) * idBytes;
    return this.#blocks[Math.floor(place / blockSize)]!.toString("hex", start, start + idBytes);
  }
}
