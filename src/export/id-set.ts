/** The ids that were read, in little memory: an account may hold millions. */

/** As the service writes ids. */
const hexId = /^[0-9a-f]{24}$/;

export interface IdSet {
  /** @returns whether it was not in the set before */
  add(id: string): boolean;
  readonly size: number;
}

/** Of an id of 24 hexadecimal digits. */
const idBytes = 12;
const maxBlockIds = 32;

/**
 * Ids of 24 hexadecimal digits stand in blocks, in their order, each without what it shares with the one
 * before: 3 bytes for one of many that were given one after the other, 13 at most. Any other text is kept as
 * it is. Ids that come in order are appended to the last block; any other order takes seven times as long.
 * @param ids what it holds at first
 */
export function createIdSet(ids: Iterable<string> = []): IdSet {
  const unusual = new Set<string>();
  const blocks: string[] = [""];
  /** The block that was used last. */
  let current = { place: 0, ids: [] as string[], isChanged: false };
  let last = "";
  let taken = 0;

  const findPlace = (id: string) => {
    if (id > last) return blocks.length - 1;
    return Math.max(0, findFirstIndex(blocks.length, (place) => blocks[place]!.slice(0, idBytes) > id) - 1);
  };
  const insertAt = (place: number) => {
    if (place === current.place) return;
    if (current.isChanged) blocks[current.place] = pack(current.ids);
    current = { place, ids: unpack(blocks[place]!), isChanged: false };
  };
  /** What is appended leaves full blocks behind; what comes in between leaves halves. */
  const splitBefore = (at: number) => {
    const behind = current.ids.splice(at);
    blocks[current.place] = pack(current.ids);
    blocks.splice(current.place + 1, 0, pack(behind));
    current = { place: current.place + 1, ids: behind, isChanged: false };
  };

  const set: IdSet = {
    add(text) {
      if (!hexId.test(text)) {
        const before = unusual.size;
        return unusual.add(text).size > before;
      }
      const id = Buffer.from(text, "hex").toString("latin1");
      insertAt(findPlace(id));
      const at = findFirstIndex(current.ids.length, (index) => current.ids[index]! >= id);
      if (current.ids[at] === id) return false;
      current.ids.splice(at, 0, id);
      current.isChanged = true;
      if (id > last) last = id;
      if (current.ids.length > maxBlockIds) splitBefore(at === maxBlockIds ? at : maxBlockIds / 2);
      taken++;
      return true;
    },
    get size() {
      return taken + unusual.size;
    },
  };
  for (const id of ids) set.add(id);
  return set;
}

/**
 * How many of so many numbers come before the first for which something holds, as it does for all behind it.
 */
function findFirstIndex(count: number, holds: (index: number) => boolean): number {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

const scratch = Buffer.alloc((maxBlockIds + 1) * (idBytes + 1));

/** The first id, and of each other one how many bytes it shares with the one before, and the rest. */
function pack(ids: string[]): string {
  let before = "";
  let length = 0;
  for (const id of ids) {
    let shared = 0;
    while (shared < before.length && id.charCodeAt(shared) === before.charCodeAt(shared)) shared++;
    if (before !== "") scratch[length++] = shared;
    for (; shared < idBytes; shared++) scratch[length++] = id.charCodeAt(shared);
    before = id;
  }
  // One flat text: what is put together from parts would keep them all.
  return scratch.toString("latin1", 0, length);
}

function unpack(block: string): string[] {
  if (block === "") return [];
  const ids = [block.slice(0, idBytes)];
  for (let at = idBytes; at < block.length; ) {
    const shared = block.charCodeAt(at);
    const end = at + 1 + idBytes - shared;
    ids.push(ids.at(-1)!.slice(0, shared) + block.slice(at + 1, end));
    at = end;
  }
  return ids;
}
