/** Which contacts a file names more than once, in 8 bytes a row: memory stays flat at a million rows. */

/** Gathers the identities of a file's rows. */
export interface IdentityTally {
  add(identity: string): void;
  /** Ends the gathering. */
  repeated(): RepeatedIdentities;
}

export interface RepeatedIdentities {
  /**
   * Whether the file may name this identity more than once. Rarely true for one it names once; never false
   * for one it names twice.
   */
  mayRepeat(identity: string): boolean;
  readonly isEmpty: boolean;
  /** Whether the file names this identity at all; true for one in a million millions that it does not. */
  mayName(identity: string): boolean;
}

export function createIdentityTally(): IdentityTally {
  let hashes = new Float64Array(1024);
  let count = 0;
  return {
    add(identity) {
      if (count === hashes.length) {
        const larger = new Float64Array(count * 2);
        larger.set(hashes);
        hashes = larger;
      }
      hashes[count++] = hashIdentity(identity);
    },
    repeated() {
      const sorted = hashes.subarray(0, count).sort();
      const repeatedHashes: number[] = [];
      for (let index = 1; index < count; index++) {
        const hash = sorted[index]!;
        if (hash === sorted[index - 1] && repeatedHashes.at(-1) !== hash) repeatedHashes.push(hash);
      }
      const twice = Float64Array.from(repeatedHashes);
      return {
        isEmpty: twice.length === 0,
        mayRepeat: (identity) => twice.length > 0 && hasHash(twice, hashIdentity(identity)),
        mayName: (identity) => hasHash(sorted, hashIdentity(identity)),
      };
    },
  };
}

/** 53 bits of a text, as a whole number. Not for hostile input: a collision must only cost time. */
export function hashIdentity(text: string): number {
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

function hasHash(sorted: Float64Array, hash: number): boolean {
  let from = 0;
  let to = sorted.length - 1;
  while (from <= to) {
    const middle = (from + to) >>> 1;
    const value = sorted[middle]!;
    if (value === hash) return true;
    if (value < hash) from = middle + 1;
    else to = middle - 1;
  }
  return false;
}
