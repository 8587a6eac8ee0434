/** `ecm contact mutate` on several contacts, or on a selection: the same change on each, as a bulk run. */
import type { EditOptions } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors.ts";
import {
  type RequestedChanges,
  requireChange,
  requireOneValueEach,
  splitAssignment,
} from "../../../service/contact-changes.ts";
import { readJsonInput } from "../../../terminal/data-input.ts";
import type { MutateBody } from "../../../wire.ts";
import { type BulkFlags, endRun, toRunOptions } from "../../bulk/flags.ts";
import { type KeyFileFlags, toTableOptions } from "../../flags/flags.ts";
import { editMany } from "./edit-many.ts";
import type { ChosenContacts } from "./selection.ts";

export interface MutateFlags extends RequestedChanges, BulkFlags, KeyFileFlags {
  data?: string;
  failUnchanged?: boolean;
}

const bodyMembers = ["addTags", "removeTags", "addLists", "removeLists", "updateFields"];

export async function mutateMany(
  context: Context,
  chosen: ChosenContacts,
  flags: MutateFlags,
): Promise<void> {
  requireNoCombination(chosen, flags);
  const options = toRunOptions(flags, context.clock.now());
  const changes = await readRequestedChanges(context, flags);
  const reading = toReadOptions(chosen, flags);
  await endRun(
    context,
    await editMany(context, { kind: "mutate", chosen, changes, reading, options, flags }),
  );
}

/** @throws UsageError for flags about a file where there is none */
function toReadOptions(
  { keys }: ChosenContacts,
  { map, consentColumn, sheet, includeUnsubscribed }: MutateFlags,
): Pick<EditOptions, "read" | "includeUnsubscribed"> {
  const hasFileFlags = [map, consentColumn, sheet, includeUnsubscribed].some((each) => each !== undefined);
  if (!hasFileFlags) return {};
  if (keys === undefined) {
    throw usageError(
      "--map, --consent-column and --include-unsubscribed apply to the file given with --keys",
      "Name the file with --keys, or leave them out",
    );
  }
  return { read: toTableOptions({ map, consentColumn, sheet }), includeUnsubscribed };
}

function requireNoCombination({ keys }: ChosenContacts, flags: MutateFlags): void {
  if (flags.ifVersion !== undefined) {
    throw usageError(
      "--if-version applies to a single contact",
      "A bulk run checks each contact's own version",
    );
  }
  if (flags.failUnchanged) throw usageError("--fail-unchanged applies to a single contact");
  if (keys === "-" && flags.data === "-") {
    throw usageError("--keys and --data cannot both be standard input", "Name a file for one of them");
  }
}

async function readRequestedChanges(
  context: Context,
  flags: MutateFlags,
): Promise<NonNullable<EditOptions["wanted"]>> {
  const { data, addTag, removeTag, addList, removeList, set } = flags;
  if (data === undefined) {
    requireChange(flags);
    set?.forEach(splitAssignment);
    return { addTag, removeTag, addList, removeList, set };
  }
  if ([addTag, removeTag, addList, removeList, set].some((value) => value !== undefined)) {
    throw usageError("--data is the whole body and cannot be used with flags that name changes");
  }
  const { value } = await readJsonInput(context, data, "--data");
  const isBody =
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(([name, part]) => bodyMembers.includes(name) && Array.isArray(part));
  if (!isBody) {
    throw usageError(`--data: a bulk run needs an object of ${bodyMembers.join(", ")}, each an array`);
  }
  const body = value as MutateBody;
  requireOneValueEach(body);
  return { body };
}
