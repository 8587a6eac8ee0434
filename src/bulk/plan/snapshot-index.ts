/**
 * Where the contacts of a snapshot are in its file, by the hashes of their keys and ids: 28 bytes for each, 4
 * more once an id is looked for.
 */

export interface SnapshotEntry {
  /** 53 bits each, as whole numbers. */
  keyHash: number;
  idHash: number;
  /** In bytes. */
  offset: number;
  length: number;
}

/** A contact's slot is its place in the order in which the contacts were added. */
export interface SnapshotIndex {
  readonly size: number;
  /** Makes room for so many contacts, within reason: the number is the service's. */
  reserve(contacts: number): void;
  add(entry: SnapshotEntry): void;
  /** Slots that may hold a key, or an id: those of others whose hash ends the same are among them. */
  findSlotsByKey(hash: number): Generator<number>;
  findSlotsById(hash: number): Generator<number>;
  /** How many different ids there are. */
  countIds(): number;
  offsetAt(slot: number): number;
  lengthAt(slot: number): number;
}

const minCapacity = 1024;
const maxReserved = 4_000_000;

export function createSnapshotIndex(): SnapshotIndex {
  /** What is read of a key's contact tells whether it is the one: half of the bits will do. */
  let keyHashes = new Uint32Array(0);
  let idHashes = new Float64Array(0);
  let offsets = new Float64Array(0);
  let lengths = new Uint32Array(0);
  let size = 0;
  let byKey: Uint32Array | undefined;
  let byId: Uint32Array | undefined;

  function resize(capacity: number): void {
    keyHashes = resizeArray(keyHashes, capacity);
    idHashes = resizeArray(idHashes, capacity);
    offsets = resizeArray(offsets, capacity);
    lengths = resizeArray(lengths, capacity);
  }

  return {
    get size() {
      return size;
    },
    reserve(contacts) {
      const capacity = Math.min(contacts, maxReserved);
      if (capacity > keyHashes.length) resize(capacity);
    },
    add({ keyHash, idHash, offset, length }) {
      if (size === keyHashes.length) resize(Math.max(minCapacity, size * 2));
      keyHashes[size] = keyHash;
      idHashes[size] = idHash;
      offsets[size] = offset;
      lengths[size] = length;
      size++;
      byKey = undefined;
      byId = undefined;
    },
    findSlotsByKey(hash) {
      byKey ??= sortByHash(keyHashes, size);
      return findSlots(hash, keyHashes, byKey);
    },
    findSlotsById(hash) {
      byId ??= sortByHash(idHashes, size);
      return findSlots(hash, idHashes, byId);
    },
    countIds() {
      const sorted = idHashes.slice(0, size).sort();
      let count = size === 0 ? 0 : 1;
      for (let at = 1; at < size; at++) if (sorted[at] !== sorted[at - 1]) count++;
      return count;
    },
    offsetAt: (slot) => offsets[slot]!,
    lengthAt: (slot) => lengths[slot]!,
  };
}

type Hashes = Uint32Array | Float64Array;

/** Slots that fit beside 32 bits of a hash into a whole number. */
const maxPackedIndex = 2 ** 21;

/** The slots in the order of the last 32 bits of their hashes. */
function sortByHash(hashes: Hashes, size: number): Uint32Array {
  if (size > maxPackedIndex) {
    const order = Uint32Array.from({ length: size }, (_, slot) => slot);
    return order.sort((one, other) => (hashes[one]! >>> 0) - (hashes[other]! >>> 0));
  }
  // Sorted as plain numbers, which takes a fifth of the time.
  const packed = new Float64Array(size);
  for (let slot = 0; slot < size; slot++) packed[slot] = (hashes[slot]! >>> 0) * maxPackedIndex + slot;
  packed.sort();
  const order = new Uint32Array(size);
  for (let at = 0; at < size; at++) order[at] = packed[at]! % maxPackedIndex;
  return order;
}

function* findSlots(hash: number, hashes: Hashes, order: Uint32Array): Generator<number> {
  const unsignedHash = hash >>> 0;
  let from = 0;
  let to = order.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (hashes[order[middle]!]! >>> 0 < unsignedHash) from = middle + 1;
    else to = middle;
  }
  for (; from < order.length && hashes[order[from]!]! >>> 0 === unsignedHash; from++) yield order[from]!;
}

function resizeArray<T extends Uint32Array | Float64Array>(array: T, capacity: number): T {
  const larger = new (array.constructor as new (length: number) => T)(capacity);
  larger.set(array);
  return larger;
}
