/** Rows of one contact made one: by the first, the last, or joined in file order. */
import type { TextIndex } from "../text-index.ts";
import type { ReadRow, Row } from "./rows.ts";

export type Duplicates = "merge" | "first" | "last" | "reject";

/** Several rows of one contact. */
interface Group {
  /** The row that represents all; its `line` names the contact in journal and report. */
  row: Row;
  /** Every line of the group, in file order. */
  lines: number[];
}

export interface JoinedRows {
  /** By identity; identities of one row are not here. */
  groups: ReadonlyMap<string, Group>;
  /** Rows that another row represents. */
  passedOver: number;
  /** What became of them. */
  how: Duplicates;
}

/** Reads all rows once and keeps those of repeated identities only. */
export async function joinRows(
  batches: AsyncIterable<readonly ReadRow[]>,
  identities: TextIndex,
  duplicates: Duplicates,
): Promise<JoinedRows> {
  const groups = new Map<string, Group>();
  const gather = (row: Row) => {
    const group = groups.get(row.key.identity);
    if (group) addTo(group, row, duplicates);
    else groups.set(row.key.identity, { row: copyRow(row), lines: [row.line] });
  };
  if (identities.hasRepeated) {
    for await (const rows of batches) {
      for (const row of rows) {
        if (row.kind === "row" && identities.isRepeated(row.key.identity)) gather(row);
      }
    }
  }
  let passedOver = 0;
  for (const [identity, group] of groups) {
    if (group.lines.length === 1) groups.delete(identity);
    else passedOver += group.lines.length - 1;
  }
  return { groups, passedOver, how: duplicates };
}

/**
 * What a row is, now that all rows are known: it represents its contact, or is passed over for another line.
 */
export function findRole(row: Row, joined: JoinedRows): { representative: Row } | { passedOverFor: number } {
  const group = joined.groups.get(row.key.identity);
  if (!group) return { representative: row };
  return group.row.line === row.line ? { representative: group.row } : { passedOverFor: group.row.line };
}

function addTo(group: Group, row: Row, duplicates: Duplicates): void {
  group.lines.push(row.line);
  // Whichever row represents the contact: a mark on any of them marks it.
  const notSubscribed = group.row.notSubscribed ?? row.notSubscribed;
  const isMarkClear = group.row.isMarkClear || row.isMarkClear;
  if (duplicates === "last") group.row = copyRow(row);
  if (duplicates === "merge") mergeInto(group.row, row);
  group.row.notSubscribed = notSubscribed;
  group.row.isMarkClear = isMarkClear;
}

/**
 * Without the cells, which are read again when a rejects file is
 * written: keeping them would hold the file in memory.
 */
function copyRow(row: Row): Row {
  return { ...row, cells: [], fields: new Map(row.fields) };
}

/** The later value wins unless it is blank; lists and tags add up. */
function mergeInto(target: Row, later: Row): void {
  for (const [id, value] of later.fields) {
    if (value !== "" || !target.fields.has(id)) target.fields.set(id, value);
  }
  target.lists = [...new Set([...target.lists, ...later.lists])];
  target.tags = [...new Set([...target.tags, ...later.tags])];
}
