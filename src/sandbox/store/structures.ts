/** Structures in the database. */
import type { ContactStructure, FieldDefinition, TagDefinition } from "../../wire.ts";
import type { Database } from "../database.ts";
import type { Participant } from "../transaction-queue.ts";

/** A structure as it is stored: every part is there. */
export interface StoredStructure extends ContactStructure {
  tags: TagDefinition[];
  fields: FieldDefinition[];
  __v: number;
}

interface StructureRow {
  id: string;
  label: string;
  key_name: string;
  key_type: string;
  fields: string;
  tags: string;
  version: number;
}

/** In a transaction of the queue, a structure is read once. */
export interface Structures extends Participant {
  all(): StoredStructure[];
  get(id: string): StoredStructure | undefined;
  put(structure: StoredStructure): void;
}

export function structuresIn(database: Database): Structures {
  // Parsing the definitions at each request would cost more than reading the row does.
  const parsed = new Map<string, { fields: string; tags: string; structure: StoredStructure }>();
  const read = (row: StructureRow): StoredStructure => {
    const known = parsed.get(row.id);
    const structure =
      known && known.fields === row.fields && known.tags === row.tags ? known.structure : undefined;
    const fresh: StoredStructure = {
      _id: row.id,
      label: row.label,
      keyName: row.key_name,
      keyType: row.key_type,
      fields: structure?.fields ?? JSON.parse(row.fields),
      tags: structure?.tags ?? JSON.parse(row.tags),
      __v: row.version,
    };
    if (!structure) parsed.set(row.id, { fields: row.fields, tags: row.tags, structure: fresh });
    return fresh;
  };
  /** Those read in the transaction under way; none of another process can change them meanwhile. */
  let current: Map<string, StoredStructure> | undefined;
  return {
    begin() {
      current = new Map();
    },
    beforeCommit() {},
    afterwards() {
      current = undefined;
    },
    all: () => database.all<StructureRow>("SELECT * FROM structures ORDER BY id").map(read),
    get(id) {
      const known = current?.get(id);
      if (known) return known;
      const row = database.get<StructureRow>("SELECT * FROM structures WHERE id = ?", id);
      const structure = row && read(row);
      if (structure) current?.set(id, structure);
      return structure;
    },
    put(structure) {
      current = undefined;
      database.run(
        "INSERT OR REPLACE INTO structures VALUES (?, ?, ?, ?, ?, ?, ?)",
        structure._id,
        structure.label,
        structure.keyName,
        structure.keyType,
        JSON.stringify(structure.fields),
        JSON.stringify(structure.tags),
        structure.__v,
      );
    },
  };
}
