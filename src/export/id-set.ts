/** The ids that were read, in little memory: an account may hold millions. */

/** As the service writes ids. */
const usual = /^[0-9a-f]{24}$/;

export interface IdSet {
  /** @returns whether it was not in the set before */
  add(id: string): boolean;
  readonly size: number;
}

// An entry: the three words of an id, and the number of the next entry in its bucket. 0: there is none.
const words = 4;
const idsOfABucket = 2;

/**
 * An id of 24 hexadecimal digits takes 18 bytes; any other text is kept as it is. The buckets are split one by one (linear
 * hashing), because a table that doubles leaves its old places to the garbage collector: as much memory again.
 * @param ids what it holds at first
 */
export function createIdSet(ids: Iterable<string> = []): IdSet {
  const unusual = new Set<string>();
  const entries = growingNumbers();
  /** The first entry of each bucket. */
  const buckets = growingNumbers();
  let bucketCount = 1;
  /** How many buckets there were when splitting began anew: a power of two. */
  let roundCount = 1;
  let taken = 0;

  const bucketOf = (a: number, b: number, c: number) => {
    const bucket = bucketHash(a, b, c) & (2 * roundCount - 1);
    return bucket < bucketCount ? bucket : bucket - roundCount;
  };
  const putInto = (bucket: number, entry: number) => {
    entries.set(entry * words + 3, buckets.get(bucket));
    buckets.set(bucket, entry);
  };
  const has = (a: number, b: number, c: number) => {
    for (let entry = buckets.get(bucketOf(a, b, c)); entry !== 0; ) {
      const first = entry * words;
      if (entries.get(first) === a && entries.get(first + 1) === b && entries.get(first + 2) === c)
        return true;
      entry = entries.get(first + 3);
    }
    return false;
  };
  /** Makes one more bucket, of those ids of an older one that belong there now. */
  const split = () => {
    const older = bucketCount - roundCount;
    bucketCount++;
    let entry = buckets.get(older);
    buckets.set(older, 0);
    while (entry !== 0) {
      const first = entry * words;
      const next = entries.get(first + 3);
      putInto(bucketOf(entries.get(first), entries.get(first + 1), entries.get(first + 2)), entry);
      entry = next;
    }
    if (bucketCount === 2 * roundCount) roundCount = bucketCount;
  };

  const set: IdSet = {
    add(id) {
      if (!usual.test(id)) {
        const before = unusual.size;
        return unusual.add(id).size > before;
      }
      const a = Number.parseInt(id.slice(0, 8), 16);
      const b = Number.parseInt(id.slice(8, 16), 16);
      const c = Number.parseInt(id.slice(16), 16);
      if (has(a, b, c)) return false;
      taken++;
      entries.set(taken * words, a);
      entries.set(taken * words + 1, b);
      entries.set(taken * words + 2, c);
      putInto(bucketOf(a, b, c), taken);
      if (taken > bucketCount * idsOfABucket) split();
      return true;
    },
    get size() {
      return taken + unusual.size;
    },
  };
  for (const id of ids) set.add(id);
  return set;
}

/** The middle is the same for all ids of one process of the service; the ends count time and contacts. */
function bucketHash(a: number, b: number, c: number): number {
  const mixed = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

const pieceBits = 16;
const placeInPiece = 2 ** pieceBits - 1;

/** 32-bit numbers in pieces that are never copied; 0 where none was set. */
function growingNumbers() {
  const pieces: Uint32Array[] = [];
  return {
    get: (at: number): number => pieces[at >>> pieceBits]?.[at & placeInPiece] ?? 0,
    set(at: number, value: number): void {
      const piece = at >>> pieceBits;
      while (pieces.length <= piece) pieces.push(new Uint32Array(2 ** pieceBits));
      pieces[piece]![at & placeInPiece] = value;
    },
  };
}
