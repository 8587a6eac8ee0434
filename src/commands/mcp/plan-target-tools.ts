/** Tools that plan the same change of every chosen contact: `plan_change`, `plan_unsubscribe`, `plan_delete`. */
import { UsageError } from "../../errors.ts";
import type { FileFolder } from "./files.ts";
import {
  type ConsentInput,
  consentInput,
  consentNames,
  type MapInput,
  mapInput,
  toConsentFlags,
  toMapFlags,
} from "./plan-inputs.ts";
import type { PlanTool } from "./plan-then-apply.ts";
import { selectionOffers } from "./read-tools.ts";

const targetOffers = [...selectionOffers, "--all", "--keys"];
const changeOffers = ["--set", "--add-tag", "--remove-tag", "--add-list", "--remove-list"];

/** Two flags that exclude each other. */
const markedRowsInput = {
  rows: {
    enum: ["marked", "all"],
    description: "where keys_file marks only some rows as not subscribed: those, or everyone. Ask the user",
  },
};

interface MarkedRowsInput {
  rows?: "marked" | "all";
}

/** @param files undefined where no file may be read: then no tool takes one */
export function targetTools(files: FileFolder | undefined): PlanTool[] {
  const marked = {
    offers: targetOffers,
    own: files ? markedRowsInput : {},
    complete: async ({ rows }: MarkedRowsInput) => ({
      flags: ["--bulk", ...(rows ? [`--${rows}-rows`] : [])],
    }),
  };
  return [
    {
      name: "plan_change",
      title: "Plan a change of contacts",
      description: "The same change of fields, tags and lists on every chosen contact.",
      path: ["contact", "mutate"],
      offers: [...targetOffers, ...changeOffers],
      own: { ...consentInput, ...mapInput },
      ownNames: consentNames,
      complete: completeChange,
    },
    {
      name: "plan_unsubscribe",
      title: "Plan an unsubscription",
      description:
        "Sets the chosen contacts to Inactive, Unsubscribe. Nobody can be subscribed again by API.",
      path: ["contact", "unsubscribe"],
      ...marked,
    },
    {
      name: "plan_delete",
      title: "Plan a deletion",
      description: "Deletes the chosen contacts for good; a backup is written first.",
      path: ["contact", "delete"],
      ...marked,
    },
  ];
}

interface ChangeInput extends ConsentInput, MapInput {
  set?: Record<string, string>;
  add_tags?: string[];
  remove_tags?: string[];
  add_lists?: string[];
  remove_lists?: string[];
}

async function completeChange(input: ChangeInput): Promise<{ flags: string[] }> {
  const { set = {}, add_tags = [], remove_tags = [], add_lists = [], remove_lists = [] } = input;
  const unclear = Object.keys(set).find((field) => field.includes("="));
  if (unclear !== undefined) {
    throw new UsageError(`The label ${JSON.stringify(unclear)} has a "="`, "Name the field by its id");
  }
  const changes = [...Object.keys(set), ...add_tags, ...remove_tags, ...add_lists, ...remove_lists];
  if (changes.length === 0) throw new UsageError("No change given", "Pass set, add_tags or another change");
  return { flags: ["--bulk", ...toConsentFlags(input), ...toMapFlags(input)] };
}
