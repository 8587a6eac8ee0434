/**
 * Which texts were added, such as keys and ids, and as the how-manieth: about 16 bytes of memory for each,
 * however long it is. Only hashes are kept: what is found may, rarely, be another text.
 */

const minCapacity = 1024;
const maxReserved = 4_000_000;

export class TextIndex {
  /** 53 bits of each text, as a whole number. */
  #hashes = new Float64Array(minCapacity);
  /** For the last bits of a hash: one more than the place that was added last; 0 for none. */
  #heads = new Uint32Array(minCapacity);
  /** For each place: the one with the same last bits that was added before, in the same way. */
  #earlier = new Uint32Array(minCapacity);
  #size = 0;
  #hasRepeated = false;

  get size(): number {
    return this.#size;
  }

  /** Whether a text was added twice; true, rarely, where two texts have one hash. */
  get hasRepeated(): boolean {
    return this.#hasRepeated;
  }

  /** Makes room for so many texts, within reason: the number may be another's. */
  reserve(count: number): void {
    const wanted = 2 ** Math.ceil(Math.log2(Math.min(count, maxReserved)));
    if (wanted > this.#hashes.length) this.#resize(wanted);
  }

  /** @returns its place: 0 for the first */
  add(text: string): number {
    if (this.#size === this.#hashes.length) this.#resize(this.#size * 2);
    const hash = hashText(text);
    this.#hasRepeated ||= this.#findLast(hash) !== undefined;
    this.#hashes[this.#size] = hash;
    this.#link(this.#size);
    return this.#size++;
  }

  /** Places at which this text may have been added, the last one first; none where it certainly was not. */
  *find(text: string): Generator<number> {
    const hash = hashText(text);
    for (let place = this.#findLast(hash); place !== undefined; place = this.#findBefore(place, hash))
      yield place;
  }

  /** Never false for a text that was added; true for one in a million millions that were not. */
  has(text: string): boolean {
    return this.#findLast(hashText(text)) !== undefined;
  }

  /** Whether a text may have been added twice: never false where it was. */
  isRepeated(text: string): boolean {
    const hash = hashText(text);
    const last = this.#findLast(hash);
    return last !== undefined && this.#findBefore(last, hash) !== undefined;
  }

  #findLast(hash: number): number | undefined {
    return this.#findFrom(this.#heads[this.#toBucket(hash)]!, hash);
  }

  #findBefore(place: number, hash: number): number | undefined {
    return this.#findFrom(this.#earlier[place]!, hash);
  }

  #findFrom(link: number, hash: number): number | undefined {
    for (let at = link; at !== 0; at = this.#earlier[at - 1]!)
      if (this.#hashes[at - 1] === hash) return at - 1;
    return undefined;
  }

  #link(place: number): void {
    const bucket = this.#toBucket(this.#hashes[place]!);
    this.#earlier[place] = this.#heads[bucket]!;
    this.#heads[bucket] = place + 1;
  }

  #toBucket(hash: number): number {
    return (hash >>> 0) & (this.#heads.length - 1);
  }

  #resize(capacity: number): void {
    const hashes = new Float64Array(capacity);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#heads = new Uint32Array(capacity);
    this.#earlier = new Uint32Array(capacity);
    for (let place = 0; place < this.#size; place++) this.#link(place);
  }
}

/** 53 bits of a text, as a whole number. Not for hostile input: a collision must only cost time. */
export function hashText(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}
