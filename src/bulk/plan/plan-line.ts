/** The plan of a bulk run: one line for each contact, in input order: what would be done, and what would change. */
import { statusOf, statusText } from "../../service/contacts.ts";
import type { Contact, CreateContactBody, IdRef, MutateBody } from "../../wire.ts";
import type { Before, Decision, Operation } from "../items.ts";
import type { KeptNames } from "../runs/names-file.ts";
import { idsOf } from "./decide.ts";
import { standInName } from "./names.ts";

/** As `--plan` writes it, one JSON object a line. */
export interface PlanLine {
  /** Of the input; null where there is none. */
  line: number | null;
  key: string;
  contactId: string | null;
  action: "create" | "update" | "delete" | "unchanged" | "skip" | "reject";
  code: string | null;
  message: string | null;
  changes: PlanChange[];
}

/** `before` is null where it is not known. Fields and the status have texts; tags and lists are there or not. */
export interface PlanChange {
  what: "field" | "tag" | "list" | "status";
  name: string;
  before: string | boolean | null;
  after: string | boolean;
}

/** Ids → names; an id whose name is not known is returned as it is. */
export interface PlanNames {
  field(id: string): string;
  list(id: string): string;
  tag(id: string): string;
}

/** Names of what the account has and of what is yet to be made. */
export function planNames({ fields, lists, tags }: KeptNames): PlanNames {
  return {
    field: (id) => fields[id] ?? standInName(id) ?? id,
    list: (id) => lists[id] ?? standInName(id) ?? id,
    tag: (id) => tags[id] ?? standInName(id) ?? id,
  };
}

/** `field "City"`, or its id where the name is not known. */
export function partNamed(what: keyof PlanNames, id: string, names: PlanNames | undefined): string {
  const name = names?.[what](id) ?? id;
  return `${what} ${name === id ? id : JSON.stringify(name)}`;
}

/** What is known of a contact besides what is decided about it. */
export interface PlannedContact {
  line: number | null;
  key: string;
  found?: Partial<Contact>;
}

/** A contact about which something was decided. */
export function planLineOf(contact: PlannedContact, decision: Decision, names: PlanNames): PlanLine {
  const { line, found } = contact;
  const key = found?.key ?? contact.key;
  const lineWith = (
    action: PlanLine["action"],
    changes: PlanChange[] = [],
    more: { contactId?: string; code?: string; message?: string } = {},
  ): PlanLine => ({
    line,
    key,
    contactId: more.contactId ?? found?._id ?? null,
    action,
    code: more.code ?? null,
    message: more.message ?? null,
    changes,
  });
  switch (decision.kind) {
    case "create":
      return lineWith("create", changesOfCreate(decision.body, names), decision.remark);
    case "change":
      return lineWith("update", changesOfMutate(decision.body, decision.before, names), remarked(decision));
    case "status": {
      const further = decision.next ? changesOfMutate(decision.next.body, decision.next.before, names) : [];
      return lineWith("update", [changeOfStatus(decision, found), ...further], remarked(decision));
    }
    case "delete":
      return lineWith("delete", [], remarked(decision));
    case "leave":
      return lineWith("unchanged");
    case "skip":
      return lineWith("skip", [], decision);
    case "reject":
      return lineWith("reject", [], decision);
  }
}

/** Which contact is written, and what is to be said of it although it is. */
function remarked({ contactId, remark }: Exclude<Operation, { kind: "create" }>) {
  return { contactId, ...remark };
}

function changeOfStatus(
  { before, status }: Extract<Decision, { kind: "status" }>,
  found: Partial<Contact> | undefined,
): PlanChange {
  return {
    what: "status",
    name: "status",
    before: statusText(before ?? (found && statusOf(found))),
    after: statusText(status)!,
  };
}

function changesOfCreate(
  { fields = [], lists = [], tags = [] }: CreateContactBody,
  names: PlanNames,
): PlanChange[] {
  const added = { before: false, after: true };
  return [
    ...fields.map(
      ({ _id, value }): PlanChange => ({ what: "field", name: names.field(_id), before: null, after: value }),
    ),
    ...membershipChanges("list", lists, added, names),
    ...membershipChanges("tag", tags, added, names),
  ];
}

/** A mutate holds only what differs: where the answer told lists or tags, each was the other way before. */
function changesOfMutate(body: MutateBody, before: Before, names: PlanNames): PlanChange[] {
  const values = new Map(before.fields.map(({ _id, value }) => [_id, value]));
  const memberships = (
    what: "list" | "tag",
    refs: readonly (IdRef | string)[] | undefined,
    after: boolean,
  ): PlanChange[] => {
    const isKnown = what === "list" ? before.knewLists : before.knewTags;
    return membershipChanges(what, refs, { before: isKnown ? !after : null, after }, names);
  };
  return [
    ...(body.updateFields ?? []).map(
      ({ _id, value }): PlanChange => ({
        what: "field",
        name: names.field(_id),
        before: values.get(_id) ?? null,
        after: value,
      }),
    ),
    ...memberships("list", body.addLists, true),
    ...memberships("list", body.removeLists, false),
    ...memberships("tag", body.addTags, true),
    ...memberships("tag", body.removeTags, false),
  ];
}

function membershipChanges(
  what: "list" | "tag",
  refs: readonly (IdRef | string)[] | undefined,
  change: Pick<PlanChange, "before" | "after">,
  names: PlanNames,
): PlanChange[] {
  return [...idsOf(refs ?? [])].map((id) => ({ what, name: names[what](id), ...change }));
}
