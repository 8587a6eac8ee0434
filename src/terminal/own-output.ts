/** Whether what a file holds is an output of `ecm`, so that the next one may take its place. Pure. */
import { isOwnWorkbook } from "../disk/workbook-mark.ts";

const id = /^[0-9a-f]{24}$/;
/** Columns of an export besides the key, by which it is recognised; a field may have any label. */
const ownColumns = ["lists", "tags", "status", "createdAt", "updatedAt"];
/** The columns of lists of other things, as they are without `--columns`. */
const otherHeaders = new Set([
  "time,type,email,campaign,detail,contactId",
  "name,totalContacts,_id",
  "label,keyName,keyType,fields,tags,_id",
  "part,label,type,required,_id",
  "profile,current,base address,key,structure,read-only",
  "hash,added",
  "hash,added,reason,source",
]);

const delimiters = [",", ";", "|", "\t"];

/** @param start of the file's text @param columns that `--columns` asks for this time */
export function isOwnOutput(start: string, columns: readonly string[] | undefined): boolean {
  const text = start.replace(/^\ufeff/, "");
  if (text.trim() === "" || isOwnWorkbook(text)) return true;
  if (text.startsWith("# The fields and tags of an account's contacts.")) return true;
  if (text.startsWith("# What is known of a person") || /^\{\s*"receipt":/.test(text)) return true;
  if (/^[[{]/.test(text)) return isOwnJson(text, columns);
  const first = /^[^\r\n]*/.exec(text)![0];
  const headers = [first.split("\t"), ...delimiters.map((each) => splitCsvCells(first, each))];
  return headers.some((cells) => isOwnHeader(cells, columns)) || containsIds(text);
}

function isOwnHeader(cells: string[], columns: readonly string[] | undefined): boolean {
  const names = cells.filter((name) => name !== "ecm:safe-cells");
  if (columns && names.join("\n") === columns.join("\n")) return true;
  if (otherHeaders.has(names.join(","))) return true;
  const holds = (name: string) => names.includes(name) || names.includes(`ecm:${name}`);
  return holds("key") && ownColumns.some(holds);
}

/**
 * The service's objects have an id of its own, its events a time and a
 * type; with `--columns` objects have these members.
 */
function isOwnJson(text: string, columns: readonly string[] | undefined): boolean {
  if (/^\[\s*\]\s*$/.test(text)) return true;
  const end = text.search(/\}\s*(?:,?\s*[\r\n]|\]|$)/);
  const first = end === -1 ? text : text.slice(0, end);
  const has = (name: string) => first.includes(`${JSON.stringify(name)}:`);
  if (columns?.every(has)) return true;
  if (has("label") && has("keyName")) return true;
  if (has("timestamp") && /"type":\s*"(?:contact|email)-/.test(first)) return true;
  return /"_id":\s*"[0-9a-f]{24}"/.test(first);
}

function containsIds(text: string): boolean {
  const lines = text.split("\n");
  lines.pop();
  return lines.length > 0 && lines.every((line) => id.test(line));
}

/** Of a header line; a label that holds a line break makes it no header of ours. */
function splitCsvCells(line: string, delimiter: string): string[] {
  const cell = new RegExp(`(?:^|[${delimiter}])(?:"((?:[^"]|"")*)"|([^"${delimiter}]*))`, "g");
  return [...line.matchAll(cell)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
}
