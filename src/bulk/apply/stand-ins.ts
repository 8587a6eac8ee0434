/** What did not exist when the plan was made is named by a stand-in there, and by its id once it was created. Pure. */
import type { CreateContactBody, IdRef, MutateBody } from "../../wire.ts";
import type { Operation } from "../items.ts";
import type { Planned } from "../plan/plan-file.ts";

type Named = Pick<Planned, "operation" | "desired">;

/** @param ids stand-in → id */
export function withCreatedNames({ operation, desired }: Named, ids: ReadonlyMap<string, string>): Named {
  if (ids.size === 0) return { operation, desired };
  const idOf = (id: string) => ids.get(id) ?? id;
  return {
    operation: inOperation(operation, idOf),
    desired: desired && {
      ...desired,
      fields: desired.fields.map(([id, value]) => [idOf(id), value]),
      ...(desired.onlyIfEmpty && { onlyIfEmpty: desired.onlyIfEmpty.map(idOf) }),
      addLists: desired.addLists.map(idOf),
      removeLists: desired.removeLists.map(idOf),
      addTags: desired.addTags.map(idOf),
      removeTags: desired.removeTags.map(idOf),
    },
  };
}

function inOperation(operation: Operation, idOf: (id: string) => string): Operation {
  switch (operation.kind) {
    case "create":
      return { ...operation, body: inBody(operation.body, idOf) };
    case "change":
      return {
        ...operation,
        body: inBody(operation.body, idOf),
        before: { ...operation.before, fields: operation.before.fields.map((each) => withId(each, idOf)) },
      };
    case "status":
      return operation.next
        ? { ...operation, next: inOperation(operation.next, idOf) as typeof operation.next }
        : operation;
    case "delete":
      return operation;
  }
}

/** Every member of a body that lists references or values names them by `_id`. */
function inBody<T extends CreateContactBody | MutateBody>(body: T, idOf: (id: string) => string): T {
  const members = Object.entries(body).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((each: IdRef | string) => withId(each, idOf)) : value,
  ]);
  return Object.fromEntries(members) as T;
}

function withId<T extends IdRef | string>(reference: T, idOf: (id: string) => string): T {
  const named: IdRef | string = reference;
  return (typeof named === "string" ? idOf(named) : { ...named, _id: idOf(named._id) }) as T;
}
