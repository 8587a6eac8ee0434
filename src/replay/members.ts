/** Looks into JSON of which no shape is promised. Pure. */
import { isObject } from "../is-object.ts";

export type Members = Record<string, unknown>;

export interface Ref {
  _id: string;
}

export function toMembers(value: unknown): Members {
  return isObject(value) ? value : {};
}

export function toArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function toRefs(value: unknown): (Ref & Members)[] {
  return toArray(value).filter((each): each is Ref & Members => typeof toMembers(each)._id === "string");
}

/** Of objects with an id, or of plain ids. */
export function toIds(value: unknown): string[] {
  return toArray(value).flatMap((each) =>
    typeof each === "string" ? [each] : toRefs([each]).map(({ _id }) => _id),
  );
}

export function toText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The filters of a search, each as its criterias. */
export function readFilters(body: unknown): Members[][] {
  const { filters } = toMembers(toMembers(body).contactSpecification);
  return toArray(filters).map((filter) => toArray(toMembers(filter).criterias).map(toMembers));
}

/** Of a contact: an object, or its two parts. */
export function readStatus({
  status,
  contactStatus,
  contactSubStatus,
}: Members): { primary: string; secondary?: string } | undefined {
  const parts =
    status === undefined ? { primary: contactStatus, secondary: contactSubStatus } : toMembers(status);
  const [primary, secondary] = [toText(parts.primary), toText(parts.secondary)];
  if (primary === undefined) return undefined;
  return secondary === undefined ? { primary } : { primary, secondary };
}

/** With these ids in front, in their order. */
export function putFirst<T extends object>(
  told: readonly Ref[],
  known: Map<string, T | Ref>,
): Map<string, T | Ref> {
  const ordered = new Map<string, T | Ref>();
  for (const { _id } of told) ordered.set(_id, known.get(_id) ?? { _id });
  for (const [id, part] of known) if (!ordered.has(id)) ordered.set(id, part);
  return ordered;
}
