/** The changes of one contact, a line each: by name, with the old value where it is known. */
import { idsOf } from "../../bulk/plan/decide.ts";
import { differingPart } from "../../service/contact-changes.ts";
import type { Naming } from "../../service/outdated-names.ts";
import type { Contact, MutateBody } from "../../wire.ts";
import type { ChangeLine } from "../change-lines.ts";

/** @param before the contact before the change; undefined if it was not read */
export function changesOf(
  body: MutateBody,
  before: Partial<Contact> | undefined,
  { structure, lists }: Naming,
): ChangeLine[] {
  const { updateFields = [], addLists, removeLists, addTags, removeTags } = differingPart(before, body);
  const listName = (id: string) => lists.find(({ _id }) => _id === id)?.name ?? id;
  const tagLabel = (id: string) => structure.tags?.find(({ _id }) => _id === id)?.label ?? id;
  const each = (
    mark: "+" | "-",
    what: string,
    refs: MutateBody["addLists"],
    nameOf: (id: string) => string,
  ) => [...idsOf(refs ?? [])].map((id): ChangeLine => ({ mark, text: `${what} ${nameOf(id)}` }));
  return [
    ...updateFields.map(({ _id, value }): ChangeLine => {
      const name = structure.fields.find((field) => field._id === _id)?.label ?? _id;
      const old = before?.fields?.find((field) => field._id === _id)?.value ?? "";
      return { mark: "~", text: `${name}  ${before ? `${shown(old)} → ` : ""}${shown(value)}` };
    }),
    ...each("+", "list", addLists, listName),
    ...each("-", "list", removeLists, listName),
    ...each("+", "tag", addTags, tagLabel),
    ...each("-", "tag", removeTags, tagLabel),
  ];
}

function shown(value: unknown): string {
  return value === "" ? "(empty)" : String(value);
}
