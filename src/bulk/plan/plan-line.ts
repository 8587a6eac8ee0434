/**
 * The plan of a bulk run: one line for each contact, in input
 * order: what would be done, and what would change.
 */
import { findStatus, formatStatus, toIdSet, unsubscribed } from "../../api/contacts.ts";
import type { Contact, CreateContactBody, IdRef, MutateBody } from "../../wire.ts";
import type { Was } from "../desired.ts";
import type { Decision, Write } from "../items.ts";
import type { StoredNames } from "./names.ts";
import { toStandInName } from "./names.ts";

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

/**
 * `before` is null where it is not known. Fields and the status have texts; tags and lists are there or not.
 */
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
export function toPlanNames({ fields, lists, tags }: StoredNames): PlanNames {
  return {
    field: (id) => fields[id] ?? toStandInName(id) ?? id,
    list: (id) => lists[id] ?? toStandInName(id) ?? id,
    tag: (id) => tags[id] ?? toStandInName(id) ?? id,
  };
}

/** `field "City"`, or its id where the name is not known. */
export function formatPart(what: keyof PlanNames, id: string, names: PlanNames | undefined): string {
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
export function toPlanLine(contact: PlannedContact, decision: Decision, names: PlanNames): PlanLine {
  const { line, found } = contact;
  const key = found?.key ?? contact.key;
  const createLine = (
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
      return createLine("create", toCreateChanges(decision.body, names), decision.remark);
    case "change":
      return createLine("update", toMutateChanges(decision.body, decision.was, names), withRemark(decision));
    case "unsubscribe":
      return createLine("update", [toStatusChange(decision, found)], withRemark(decision));
    case "delete":
      return createLine("delete", [], withRemark(decision));
    case "leave":
      return createLine("unchanged");
    case "skip":
      return createLine("skip", [], decision);
    case "reject":
      return createLine("reject", [], decision);
  }
}

/** Which contact is written, and what is to be said of it although it is. */
function withRemark({ id: contactId, remark }: Exclude<Write, { kind: "create" }>) {
  return { contactId, ...remark };
}

function toStatusChange(
  { was }: Extract<Decision, { kind: "unsubscribe" }>,
  found: Partial<Contact> | undefined,
): PlanChange {
  return {
    what: "status",
    name: "status",
    before: formatStatus(was ?? (found && findStatus(found))),
    after: formatStatus(unsubscribed)!,
  };
}

function toCreateChanges(
  { fields = [], lists = [], tags = [] }: CreateContactBody,
  names: PlanNames,
): PlanChange[] {
  const added = { before: false, after: true };
  return [
    ...fields.map(
      ({ _id, value }): PlanChange => ({ what: "field", name: names.field(_id), before: null, after: value }),
    ),
    ...toMembershipChanges("list", lists, added, names),
    ...toMembershipChanges("tag", tags, added, names),
  ];
}

/** @param was what it replaces */
function toMutateChanges(body: MutateBody, was: readonly Was[], names: PlanNames): PlanChange[] {
  const values = new Map(was.map(({ what, id, to }) => [`${what} ${id}`, to]));
  const toMemberships = (
    what: "list" | "tag",
    refs: readonly (IdRef | string)[] | undefined,
    after: boolean,
  ): PlanChange[] =>
    [...toIdSet(refs ?? [])].map((id) => ({
      what,
      name: names[what](id),
      before: values.get(`${what} ${id}`) ?? null,
      after,
    }));
  return [
    ...(body.updateFields ?? []).map(
      ({ _id, value }): PlanChange => ({
        what: "field",
        name: names.field(_id),
        before: values.get(`field ${_id}`) ?? null,
        after: value,
      }),
    ),
    ...toMemberships("list", body.addLists, true),
    ...toMemberships("list", body.removeLists, false),
    ...toMemberships("tag", body.addTags, true),
    ...toMemberships("tag", body.removeTags, false),
  ];
}

function toMembershipChanges(
  what: "list" | "tag",
  refs: readonly (IdRef | string)[] | undefined,
  change: Pick<PlanChange, "before" | "after">,
  names: PlanNames,
): PlanChange[] {
  return [...toIdSet(refs ?? [])].map((id) => ({ what, name: names[what](id), ...change }));
}
