/** The ids that were read, in little memory: an account may hold millions. */

/** As the service writes ids. */
const usual = /^[0-9a-f]{24}$/;
/** 32-bit words of an id. */
const words = 3;
const firstPlaces = 1024;

export interface IdSet {
  /** @returns whether it was not in the set before */
  add(id: string): boolean;
  readonly size: number;
}

/**
 * An id of 24 hexadecimal digits takes 12 bytes and its share of the free places, 16 to 34 in all; any other text is kept as it is.
 * @param ids what it holds at first
 */
export function createIdSet(ids: Iterable<string> = []): IdSet {
  const unusual = new Set<string>();
  // Open addressing: an id is at the place that follows from it, or in the next free one. Three zeros are a free place.
  let table = new Uint32Array(firstPlaces * words);
  let taken = 0;

  /** @returns whether there was none like it */
  const place = (a: number, b: number, c: number): boolean => {
    const places = table.length / words;
    // The middle is the same for all ids of one process of the service; the ends count time and contacts.
    let at =
      ((Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35)) >>> 0) % places;
    for (;;) {
      const first = at * words;
      const [one, two, three] = [table[first], table[first + 1], table[first + 2]];
      if (one === a && two === b && three === c) return false;
      if (one === 0 && two === 0 && three === 0) {
        table[first] = a;
        table[first + 1] = b;
        table[first + 2] = c;
        return true;
      }
      at = (at + 1) % places;
    }
  };
  const grow = () => {
    const before = table;
    table = new Uint32Array(before.length * 2);
    for (let at = 0; at < before.length; at += words) {
      const [a, b, c] = [before[at]!, before[at + 1]!, before[at + 2]!];
      if (a !== 0 || b !== 0 || c !== 0) place(a, b, c);
    }
  };
  const set: IdSet = {
    add(id) {
      const [a, b, c] = [0, 8, 16].map((at) => Number.parseInt(id.slice(at, at + 8), 16));
      if (!usual.test(id) || (a === 0 && b === 0 && c === 0)) {
        const before = unusual.size;
        return unusual.add(id).size > before;
      }
      if (!place(a!, b!, c!)) return false;
      taken++;
      if (taken * words > table.length * 0.7) grow();
      return true;
    },
    get size() {
      return taken + unusual.size;
    },
  };
  for (const id of ids) set.add(id);
  return set;
}
