/** Lists in the database. */
import type { ContactList } from "../../wire.ts";
import type { Database, Value } from "../database.ts";

interface ListRow {
  id: string;
  structure_id: string;
  name: string;
  created_at: number;
  updated_at: number;
  version: number;
  total: number | null;
  campaigns: number;
}

export interface StoredList extends Required<ContactList> {
  type: "static";
  totalCampaigns: number;
}

export interface ListPage {
  /** Starts at 1. */
  page: number;
  size: number;
  sort: "_id" | "name" | "createdAt" | "updatedAt";
  direction: "asc" | "desc";
  /** Only lists whose name holds this, without regard to case. */
  nameHolds?: string;
}

export interface Lists {
  page(structureId: string, wanted: ListPage): { total: number; lists: StoredList[] };
  all(structureId: string): StoredList[];
  get(structureId: string, id: string): StoredList | undefined;
  /** How many of these ids are lists of the structure. */
  countOf(structureId: string, ids: string[]): number;
  add(structureId: string, list: { _id: string; name: string; now: number }): void;
  rename(id: string, name: string, now: number): void;
  remove(id: string): void;
}

// A campaign names its lists.
const selected = `SELECT lists.*, totals.total, (SELECT count(*) FROM documents, json_each(content, '$.listIds')
  WHERE kind = 'campaign' AND value = lists.id) AS campaigns FROM lists LEFT JOIN totals ON totals.group_id = lists.id`;
const columns = { _id: "id", name: "name COLLATE NOCASE", createdAt: "created_at", updatedAt: "updated_at" };

export function listsIn(database: Database): Lists {
  return {
    page(structureId, { page, size, sort, direction, nameHolds }) {
      const where = `WHERE structure_id = ?${nameHolds === undefined ? "" : " AND instr(lower(name), lower(?))"}`;
      const values: Value[] = nameHolds === undefined ? [structureId] : [structureId, nameHolds];
      const total = database.get<{ total: number }>(
        `SELECT count(*) AS total FROM lists ${where}`,
        ...values,
      );
      const rows = database.all<ListRow>(
        `${selected} ${where} ORDER BY ${columns[sort]} ${direction}, id LIMIT ? OFFSET ?`,
        ...values,
        size,
        (page - 1) * size,
      );
      return { total: total?.total ?? 0, lists: rows.map(read) };
    },
    all: (structureId) =>
      database.all<ListRow>(`${selected} WHERE structure_id = ? ORDER BY id`, structureId).map(read),
    get(structureId, id) {
      const row = database.get<ListRow>(`${selected} WHERE structure_id = ? AND id = ?`, structureId, id);
      return row && read(row);
    },
    countOf(structureId, ids) {
      const row = database.get<{ count: number }>(
        "SELECT count(*) AS count FROM json_each(?) AS wanted JOIN lists ON lists.id = wanted.value WHERE structure_id = ?",
        JSON.stringify(ids),
        structureId,
      );
      return row?.count ?? 0;
    },
    add(structureId, { _id, name, now }) {
      database.run("INSERT INTO lists VALUES (?, ?, ?, ?, ?, 0)", _id, structureId, name, now, now);
    },
    rename(id, name, now) {
      database.run(
        "UPDATE lists SET name = ?, updated_at = ?, version = version + 1 WHERE id = ?",
        name,
        now,
        id,
      );
    },
    remove(id) {
      database.run("DELETE FROM lists WHERE id = ?", id);
    },
  };
}

function read(row: ListRow): StoredList {
  return {
    _id: row.id,
    name: row.name,
    type: "static",
    totalContacts: row.total ?? 0,
    totalCampaigns: row.campaigns,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
    __v: row.version,
  };
}
