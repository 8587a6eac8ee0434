/**
 * Whether the values of a plan file are what a plan holds. A digest only tells that a file is as it was
 * written, not who wrote it: what people read of a contact must also be what would be sent. Pure.
 */

import type { ConsentRead, Operation } from "../items.ts";
import type { Creation } from "./names.ts";
import type { PlanEnd, PlanHead, Planned, StoredLine } from "./plan-file.ts";
import { type PlanLine, type PlanNames, toPlanLine, toPlanNames } from "./plan-line.ts";

type Fields = Readonly<Record<string, unknown>>;

export function isHead(value: unknown): value is PlanHead {
  if (!isObject(value)) return false;
  const { program, kind, command, account, createdAt, names, source, listIds } = value;
  return (
    [program, kind, createdAt].every(isText) &&
    isObject(account) &&
    [account.baseUrl, account.structureId, account.keyType].every(isText) &&
    isObject(names) &&
    [names.fields, names.lists, names.tags].every(
      (each) => isObject(each) && Object.values(each).every(isText),
    ) &&
    [command, source, listIds].every((each) => Array.isArray(each) && each.every(isText))
  );
}

export function isCreation(value: unknown): value is Creation {
  if (!isObject(value)) return false;
  const { what, name, dataType } = value;
  return ["list", "tag", "field"].includes(what as string) && isText(name) && isTextOrNone(dataType);
}

export function isEnd(value: unknown): value is Pick<PlanEnd, "counts" | "requests" | "digest"> {
  if (!isObject(value)) return false;
  const { counts, requests, digest } = value;
  return (
    isText(digest) && isCount(requests) && isObject(counts) && actions.every((each) => isCount(counts[each]))
  );
}

/** Also holds what is read against what would be sent. */
export function isLine(value: Fields, { names }: PlanHead): value is Fields & StoredLine {
  if (!isReadable(value)) return false;
  const { action, apply } = value;
  if (isObject(apply) && apply.isErased === true) return true;
  if (apply === undefined) return !writeActions.some((each) => each === action);
  return isPlanned(apply) && matchesOperation(value, apply, toPlanNames(names));
}

/** Whether people can read what becomes of the contact. */
function isReadable(value: Fields): value is Fields & PlanLine {
  const { line, key, contactId, action, changes, consent } = value;
  return (
    (line === null || isCount(line)) &&
    isText(key) &&
    (contactId === null || isText(contactId)) &&
    actions.some((each) => each === action) &&
    Array.isArray(changes) &&
    changes.every(isObject) &&
    (consent === undefined || isConsent(consent))
  );
}

function isConsent(value: unknown): value is ConsentRead {
  if (!isObject(value)) return false;
  const { columns, overriddenBy = [], input, line } = value;
  const isColumn = (each: unknown) => isObject(each) && isText(each.column) && isText(each.said);
  const areFlags = Array.isArray(overriddenBy) && overriddenBy.every(isText);
  return Array.isArray(columns) && columns.every(isColumn) && areFlags && isText(input) && isCount(line);
}

const writeActions = ["create", "update", "delete"] as const;
const actions = [...writeActions, "unchanged", "skip", "reject"] as const;

function isPlanned(value: unknown): value is Planned {
  if (!isObject(value)) return false;
  const { ref, key, operation } = value;
  const areKeys = isObject(key) && isText(key.written) && isText(key.sent);
  return isCount(ref) && areKeys && isOperation(operation) && isMove(value);
}

function isMove({ movesFrom, follows }: Fields): boolean {
  const isFrom = isObject(movesFrom) && isText(movesFrom.contactId) && isText(movesFrom.key);
  return (movesFrom === undefined || isFrom) && (follows === undefined || isCount(follows));
}

function isOperation(value: unknown): value is Operation {
  if (!isObject(value)) return false;
  const { kind, contactId, contact, body, status, next } = value;
  switch (kind) {
    case "create":
      return isBody(body) && isText(body.key) && isText(body.contactStructureId);
    case "change":
      return isText(contactId) && isBody(body) && isBefore(value.before);
    case "status":
      return (
        isText(contactId) &&
        isObject(status) &&
        isText(status.primary) &&
        (next === undefined || (isOperation(next) && next.kind === "change" && next.contactId === contactId))
      );
    case "delete":
      return isText(contactId) && isObject(contact);
    default:
      return false;
  }
}

function isBefore(value: unknown): boolean {
  return isObject(value) && isValues(value.fields) && [value.knewLists, value.knewTags].every(isFlag);
}

const referenceMembers = ["lists", "tags", "addLists", "removeLists", "addTags", "removeTags"];

function isBody(value: unknown): value is Fields {
  if (!isObject(value)) return false;
  const { fields = [], updateFields = [] } = value;
  const isReference = (each: unknown) => isText(each) || (isObject(each) && isText(each._id));
  const areReferences = (each: unknown) =>
    each === undefined || (Array.isArray(each) && each.every(isReference));
  return (
    isValues(fields) && isValues(updateFields) && referenceMembers.every((name) => areReferences(value[name]))
  );
}

function isValues(value: unknown): boolean {
  return (
    Array.isArray(value) && value.every((each) => isObject(each) && isText(each._id) && isText(each.value))
  );
}

function matchesOperation(line: PlanLine, { operation, key }: Planned, names: PlanNames): boolean {
  const contact = { line: line.line, key: line.key };
  const expectedLine: PlanLine = toPlanLine(contact, operation, names);
  // The status that a contact had may have been told by its look-up alone.
  const formatChanges = (changes: PlanLine["changes"]) =>
    changes.map(({ what, name, before, after }) => [what, name, what === "status" ? null : before, after]);
  const isSameKey =
    operation.kind !== "create" || [key.sent, operation.body.key].every((each) => each === line.key);
  return (
    isSameKey &&
    line.action === expectedLine.action &&
    (expectedLine.contactId === null || line.contactId === expectedLine.contactId) &&
    JSON.stringify(formatChanges(line.changes)) === JSON.stringify(formatChanges(expectedLine.changes))
  );
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || isText(value);
}

function isFlag(value: unknown): boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
