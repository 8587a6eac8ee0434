/** The same change on many contacts: `contact mutate` with several contacts, or with `--keys`. */

import { mutateBody, type WantedChanges } from "../../service/contact-changes.ts";
import { statusParts } from "../../service/contacts.ts";
import type { IdRef, MutateBody } from "../../wire.ts";
import type { RowJob } from "../engine/row-job.ts";
import { understandKeys } from "../input/index.ts";
import type { DesiredContact } from "../items.ts";

export interface MutateOptions {
  input: RowJob["input"];
  /** As typed; or the body as it stands. */
  wanted: WantedChanges | { body: MutateBody };
  /** One key on each line, and no header to be looked for. */
  isPlain?: boolean;
}

export function mutateJob({ input, wanted, isPlain }: MutateOptions): RowJob {
  let wish: DesiredContact | undefined;
  let source: string[] = [];
  return {
    kind: "mutate",
    input,
    understand: (file, structure) =>
      understandKeys(file, { map: new Map(), hasNoHeader: isPlain }, structure),
    async resolve(account) {
      const body = "body" in wanted ? wanted.body : await mutateBody(account, wanted);
      wish = wishFrom(body);
      source = sourceOf(body);
    },
    options: { wanted, isPlain },
    duplicates: "first",
    lists: [],
    tags: [],
    createMissing: false,
    decide: { mode: "update", missing: "reject" },
    source: () => source,
    desiredContactOf: () => wish!,
    notSubscribedAre: "added to no list",
    listIds: () => [...wish!.addLists, ...wish!.removeLists],
  };
}

/** What `runs resume` hands to `mutateJob`. */
export function mutateOptionsFrom(record: Record<string, unknown>, input: RowJob["input"]): MutateOptions {
  return { ...(record as unknown as Omit<MutateOptions, "input">), input };
}

function wishFrom(body: MutateBody): DesiredContact {
  return {
    fields: new Map(body.updateFields?.map(({ _id, value }) => [_id, value])),
    addLists: ids(body.addLists),
    removeLists: ids(body.removeLists),
    addTags: ids(body.addTags),
    removeTags: ids(body.removeTags),
  };
}

function sourceOf(body: MutateBody): string[] {
  const source = [...statusParts];
  if (body.updateFields) source.push("fields");
  if (body.addLists || body.removeLists) source.push("lists");
  if (body.addTags || body.removeTags) source.push("tags");
  return source;
}

function ids(references: (IdRef | string)[] = []): string[] {
  return references.map((each) => (typeof each === "string" ? each : each._id));
}
