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
