/** `plan_list_sync`: a list made equal to a file. */
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

export const listSyncTool: PlanTool = {
  name: "plan_list_sync",
  title: "Plan a list sync",
  description:
    "Makes a list's members exactly the keys of a file: adds first, removals after. Refused for more than 10% removals unless max_remove says so.",
  path: ["lists", "sync"],
  offers: ["<list>", "<file>", "--max-remove", "--create"],
  own: { ...consentInput, ...mapInput },
  ownNames: consentNames,
  required: ["list", "file"],
  complete: async (input: ConsentInput & MapInput) => ({
    flags: [...toConsentFlags(input), ...toMapFlags(input)],
  }),
};
