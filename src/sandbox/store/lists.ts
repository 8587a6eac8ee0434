/** Lists in the database. */
import type { ContactList } from "../../wire.ts";
import { Tables, type Value } from "../database.ts";

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
  /** Only lists whose name contains this, without regard to case. */
  nameHolds?: string;
}

// A campaign names its lists.
const selected = `SELECT lists.*, totals.total,
  (SELECT count(*) FROM documents, json_each(content, '$.listIds')
    WHERE kind = 'campaign' AND value = lists.id) AS campaigns
  FROM lists LEFT JOIN totals ON totals.group_id = lists.id`;
const columns = { _id: "id", name: "name COLLATE NOCASE", createdAt: "created_at", updatedAt: "updated_at" };

export class ListStore extends Tables {
  page(
    structureId: string,
    { page, size, sort, direction, nameHolds }: ListPage,
  ): { total: number; lists: StoredList[] } {
    const ids = nameHolds === undefined ? undefined : this.idsByName(structureId, nameHolds);
    const where = `WHERE structure_id = ?${ids ? " AND lists.id IN (SELECT value FROM json_each(?))" : ""}`;
    const values: Value[] = ids ? [structureId, JSON.stringify(ids)] : [structureId];
    const total = this.database.get<{ total: number }>(
      `SELECT count(*) AS total FROM lists ${where}`,
      ...values,
    );
    const rows = this.database.all<ListRow>(
      `${selected} ${where} ORDER BY ${columns[sort]} ${direction}, id LIMIT ? OFFSET ?`,
      ...values,
      size,
      (page - 1) * size,
    );
    return { total: total?.total ?? 0, lists: rows.map(readList) };
  }

  /** The database knows the letter case of ASCII alone. */
  private idsByName(structureId: string, part: string): string[] {
    const wanted = part.toLowerCase();
    return this.database
      .all<{ id: string; name: string }>("SELECT id, name FROM lists WHERE structure_id = ?", structureId)
      .flatMap(({ id, name }) => (name.toLowerCase().includes(wanted) ? [id] : []));
  }

  all(structureId: string): StoredList[] {
    return this.database
      .all<ListRow>(`${selected} WHERE structure_id = ? ORDER BY id`, structureId)
      .map(readList);
  }

  get(structureId: string, id: string): StoredList | undefined {
    const row = this.database.get<ListRow>(`${selected} WHERE structure_id = ? AND id = ?`, structureId, id);
    return row && readList(row);
  }

  /** How many of these ids are lists of the structure. */
  count(structureId: string, ids: string[]): number {
    const row = this.database.get<{ count: number }>(
      `SELECT count(*) AS count FROM json_each(?) AS wanted JOIN lists ON lists.id = wanted.value
        WHERE structure_id = ?`,
      JSON.stringify(ids),
      structureId,
    );
    return row?.count ?? 0;
  }

  add(structureId: string, { _id, name, now }: { _id: string; name: string; now: number }): void {
    this.database.run("INSERT INTO lists VALUES (?, ?, ?, ?, ?, 0)", _id, structureId, name, now, now);
  }

  rename(id: string, name: string, now: number): void {
    this.database.run(
      "UPDATE lists SET name = ?, updated_at = ?, version = version + 1 WHERE id = ?",
      name,
      now,
      id,
    );
  }

  remove(id: string): void {
    this.database.run("DELETE FROM lists WHERE id = ?", id);
  }
}

function readList(row: ListRow): StoredList {
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
