/**
 * Which texts were added, such as keys and ids, and as the how-manieth: 12 bytes of memory for each, however
 * long it is, and up to 1 MiB. Only hashes are stored: a match may, rarely, be another text.
 */

/** So many are one block: what grows by blocks is never copied. */
const blockSize = 2 ** 12;
const firstBucketCount = 2 ** 12;
const maxBucketCount = 2 ** 18;

export class TextIndex {
  /** 53 bits of each text, as a whole number. */
  readonly #hashes: Float64Array[] = [];
  /** For each place: one more than the place before it with the same last bits; 0 for none. */
  readonly #earlier: Uint32Array[] = [];
  /** For the last bits of a hash, in the same way: the place that was added last. */
  #buckets = new Uint32Array(firstBucketCount);
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
    const place = this.#size++;
    const at = place % blockSize;
    if (at === 0) {
      this.#hashes.push(new Float64Array(blockSize));
      this.#earlier.push(new Uint32Array(blockSize));
    }
    this.#hashes.at(-1)![at] = hash;
    this.#link(place, hash);
    if (place === this.#buckets.length && place < maxBucketCount) this.#addBuckets();
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
    return this.#findFrom(this.#linkAt(place), hash);
  }

  #findFrom(link: number, hash: number): number | undefined {
    for (let next = link; next !== 0; next = this.#linkAt(next - 1)) {
      const place = next - 1;
      if (this.#hashAt(place) === hash) return place;
    }
    return undefined;
  }

  #hashAt(place: number): number {
    return this.#hashes[Math.floor(place / blockSize)]![place % blockSize]!;
  }

  #linkAt(place: number): number {
    return this.#earlier[Math.floor(place / blockSize)]![place % blockSize]!;
  }

  #link(place: number, hash: number): void {
    const bucket = hash % this.#buckets.length;
    this.#earlier[Math.floor(place / blockSize)]![place % blockSize] = this.#buckets[bucket]!;
    this.#buckets[bucket] = place + 1;
  }

  #addBuckets(): void {
    this.#buckets = new Uint32Array(this.#buckets.length * 4);
    for (let place = 0; place < this.#size; place++) this.#link(place, this.#hashAt(place));
  }
}

/** 53 bits of a text, as a whole number. Not for hostile input: a collision must only cost time. */
function hashText(text: string): number {
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
