/** Structures in the database. */
import type { ContactStructure, FieldDefinition, TagDefinition } from "../../wire.ts";
import { Tables } from "../database.ts";
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

/** In a transaction of the queue, a structure is read once: no other process can change it meanwhile. */
export class StructureStore extends Tables implements Participant {
  /** Those read in the transaction under way. */
  private current: Map<string, StoredStructure> | undefined;

  begin(): void {
    this.current = new Map();
  }

  afterwards(): void {
    this.current = undefined;
  }

  all(): StoredStructure[] {
    return this.database.all<StructureRow>("SELECT * FROM structures ORDER BY id").map(readStructure);
  }

  get(id: string): StoredStructure | undefined {
    const known = this.current?.get(id);
    if (known) return known;
    const row = this.database.get<StructureRow>("SELECT * FROM structures WHERE id = ?", id);
    const structure = row && readStructure(row);
    if (structure) this.current?.set(id, structure);
    return structure;
  }

  put(structure: StoredStructure): void {
    this.current = undefined;
    this.database.run(
      "INSERT OR REPLACE INTO structures VALUES (?, ?, ?, ?, ?, ?, ?)",
      structure._id,
      structure.label,
      structure.keyName,
      structure.keyType,
      JSON.stringify(structure.fields),
      JSON.stringify(structure.tags),
      structure.__v,
    );
  }
}

function readStructure(row: StructureRow): StoredStructure {
  return {
    _id: row.id,
    label: row.label,
    keyName: row.key_name,
    keyType: row.key_type,
    fields: JSON.parse(row.fields),
    tags: JSON.parse(row.tags),
    __v: row.version,
  };
}
