/**
 * Which texts were added, such as keys and ids, and as the how-manieth: 16 to 32 bytes of memory for each,
 * however long it is. Only hashes are kept: what is found may, rarely, be another text.
 */

const firstCapacity = 64;

export class TextIndex {
  /** 53 bits of each text, as a whole number. */
  #hashes = new Float64Array(firstCapacity);
  /** For each place: one more than the place before it with the same last bits; 0 for none. */
  #earlier = new Uint32Array(firstCapacity);
  /** For the last bits of a hash, in the same way: the place that was added last. */
  #buckets = new Uint32Array(firstCapacity);
  #size = 0;
  #hasRepeated = false;

  get size(): number {
    return this.#size;
  }

  /** Whether a text was added twice; true, rarely, where two texts have one hash. */
  get hasRepeated(): boolean {
    return this.#hasRepeated;
  }

  /** @returns its place: 0 for the first */
  add(text: string): number {
    const hash = hashText(text);
    this.#hasRepeated ||= this.#findLast(hash) !== undefined;
    if (this.#size === this.#hashes.length) this.#grow();
    const place = this.#size++;
    this.#hashes[place] = hash;
    this.#link(place);
    return place;
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
    return this.#findFrom(this.#buckets[hash % this.#buckets.length]!, hash);
  }

  #findBefore(place: number, hash: number): number | undefined {
    return this.#findFrom(this.#earlier[place]!, hash);
  }

  #findFrom(link: number, hash: number): number | undefined {
    for (let next = link; next !== 0; next = this.#earlier[next - 1]!) {
      if (this.#hashes[next - 1] === hash) return next - 1;
    }
    return undefined;
  }

  #link(place: number): void {
    const bucket = this.#hashes[place]! % this.#buckets.length;
    this.#earlier[place] = this.#buckets[bucket]!;
    this.#buckets[bucket] = place + 1;
  }

  #grow(): void {
    const hashes = this.#hashes;
    this.#hashes = new Float64Array(hashes.length * 2);
    this.#hashes.set(hashes);
    this.#earlier = new Uint32Array(this.#hashes.length);
    this.#buckets = new Uint32Array(this.#hashes.length);
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
