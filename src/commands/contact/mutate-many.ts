/** `ecm contact mutate` on several contacts, or on a selection: the same change on each, as a bulk run. */
import type { EditOptions } from "../../bulk/jobs/edit.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { requireChange, splitAssignment, type WantedChanges } from "../../service/contact-changes.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import type { MutateBody } from "../../wire.ts";
import { type BulkFlags, endRun, runOptionsFrom } from "../bulk/flags.ts";
import { columnMap } from "../flags.ts";
import { editMany } from "./edit-many.ts";
import type { Chosen } from "./selection.ts";

export interface MutateManyOptions extends WantedChanges, BulkFlags {
  data?: string;
  failUnchanged?: boolean;
  map?: string[];
  consentColumn?: string[];
  sheet?: string;
  includeUnsubscribed?: boolean;
}

const members = ["addTags", "removeTags", "addLists", "removeLists", "updateFields"];

export async function mutateMany(context: Context, chosen: Chosen, given: MutateManyOptions): Promise<void> {
  refuseCombinations(chosen, given);
  const options = runOptionsFrom(given, context.clock.now());
  const wanted = await wantedFrom(context, given);
  const reading = readingFrom(chosen, given);
  await endRun(
    context,
    await editMany(context, { kind: "mutate", chosen, wanted, reading, options, flags: given }),
  );
}

/** @throws UsageError for flags about a file where there is none */
function readingFrom(
  { keys }: Chosen,
  { map, consentColumn, sheet, includeUnsubscribed }: MutateManyOptions,
): Pick<EditOptions, "read" | "includeUnsubscribed"> {
  const isTold = [map, consentColumn, sheet, includeUnsubscribed].some((each) => each !== undefined);
  if (!isTold) return {};
  if (keys === undefined) {
    throw new UsageError(
      "--map, --consent-column and --include-unsubscribed apply to the file given with --keys",
      "Name the file with --keys, or leave them out",
    );
  }
  return { read: { map: [...columnMap(map)], consentColumns: consentColumn, sheet }, includeUnsubscribed };
}

function refuseCombinations({ keys }: Chosen, given: MutateManyOptions): void {
  if (given.ifVersion !== undefined) {
    throw new UsageError(
      "--if-version applies to a single contact",
      "A bulk run checks each contact's own version",
    );
  }
  if (given.failUnchanged) throw new UsageError("--fail-unchanged applies to a single contact");
  if (keys === "-" && given.data === "-") {
    throw new UsageError("--keys and --data cannot both be standard input", "Name a file for one of them");
  }
}

async function wantedFrom(
  context: Context,
  given: MutateManyOptions,
): Promise<NonNullable<EditOptions["wanted"]>> {
  const { data, addTag, removeTag, addList, removeList, set } = given;
  if (data === undefined) {
    requireChange(given);
    set?.forEach(splitAssignment);
    return { addTag, removeTag, addList, removeList, set };
  }
  if ([addTag, removeTag, addList, removeList, set].some((value) => value !== undefined)) {
    throw new UsageError("--data is the whole body and cannot be used with flags that name changes");
  }
  const { value } = await readJsonInput(context.terminal, data, "--data");
  const isBody =
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(([name, part]) => members.includes(name) && Array.isArray(part));
  if (!isBody) {
    throw new UsageError(`--data: a bulk run needs an object of ${members.join(", ")}, each an array`);
  }
  return { body: value as MutateBody };
}
