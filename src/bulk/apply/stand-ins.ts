/**
 * What did not exist when the plan was made is named by a stand-in
 * there, and by its id once it was created. Pure.
 */
import type { CreateContactBody, IdRef, MutateBody } from "../../wire.ts";
import type { Operation } from "../items.ts";
import type { Planned } from "../plan/plan-file.ts";

type PlannedWrite = Pick<Planned, "operation" | "desired">;

/** @param ids stand-in → id */
export function replaceStandIns(
  { operation, desired }: PlannedWrite,
  ids: ReadonlyMap<string, string>,
): PlannedWrite {
  if (ids.size === 0) return { operation, desired };
  const toRealId = (id: string) => ids.get(id) ?? id;
  return {
    operation: replaceInOperation(operation, toRealId),
    desired: desired && {
      ...desired,
      fields: desired.fields.map(([id, value]) => [toRealId(id), value]),
      addLists: desired.addLists.map(toRealId),
      removeLists: desired.removeLists.map(toRealId),
      addTags: desired.addTags.map(toRealId),
      removeTags: desired.removeTags.map(toRealId),
    },
  };
}

function replaceInOperation(operation: Operation, toRealId: (id: string) => string): Operation {
  switch (operation.kind) {
    case "create":
      return { ...operation, body: replaceInBody(operation.body, toRealId) };
    case "change":
      return {
        ...operation,
        body: replaceInBody(operation.body, toRealId),
        before: {
          ...operation.before,
          fields: operation.before.fields.map((each) => replaceId(each, toRealId)),
        },
      };
    case "status":
    case "delete":
      return operation;
  }
}

/** Every member of a body that lists references or values names them by `_id`. */
function replaceInBody<T extends CreateContactBody | MutateBody>(
  body: T,
  toRealId: (id: string) => string,
): T {
  const members = Object.entries(body).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((each: IdRef | string) => replaceId(each, toRealId)) : value,
  ]);
  return Object.fromEntries(members) as T;
}

function replaceId<T extends IdRef | string>(reference: T, toRealId: (id: string) => string): T {
  const idOrReference: IdRef | string = reference;
  return (
    typeof idOrReference === "string"
      ? toRealId(idOrReference)
      : { ...idOrReference, _id: toRealId(idOrReference._id) }
  ) as T;
}
