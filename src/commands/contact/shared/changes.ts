/** The changes of one contact, a line each: by name, with the old value where it is known. */
import { toIdSet } from "../../../api/contacts.ts";
import type { Naming } from "../../../service/account.ts";
import { pickDifferences } from "../../../service/contact-changes.ts";
import type { Contact, MutateBody } from "../../../wire.ts";
import type { ChangeLine } from "../../output/change-lines.ts";

/** @param before the contact before the change; undefined if it was not read */
export function describeChanges(
  body: MutateBody,
  before: Partial<Contact> | undefined,
  { structure, lists }: Naming,
): ChangeLine[] {
  const { updateFields = [], addLists, removeLists, addTags, removeTags } = pickDifferences(before, body);
  const formatListName = (id: string) => lists.find(({ _id }) => _id === id)?.name ?? id;
  const formatTagLabel = (id: string) => structure.tags?.find(({ _id }) => _id === id)?.label ?? id;
  const toChangeLines = (
    mark: "+" | "-",
    what: string,
    refs: MutateBody["addLists"],
    toName: (id: string) => string,
  ) => [...toIdSet(refs ?? [])].map((id): ChangeLine => ({ mark, text: `${what} ${toName(id)}` }));
  return [
    ...updateFields.map(({ _id, value }): ChangeLine => {
      const name = structure.fields.find((field) => field._id === _id)?.label ?? _id;
      const old = before?.fields?.find((field) => field._id === _id)?.value ?? "";
      return {
        mark: "~",
        text: `${name}  ${before ? `${formatFieldValue(old)} → ` : ""}${formatFieldValue(value)}`,
      };
    }),
    ...toChangeLines("+", "list", addLists, formatListName),
    ...toChangeLines("-", "list", removeLists, formatListName),
    ...toChangeLines("+", "tag", addTags, formatTagLabel),
    ...toChangeLines("-", "tag", removeTags, formatTagLabel),
  ];
}

function formatFieldValue(value: unknown): string {
  return value === "" ? "(empty)" : String(value);
}
