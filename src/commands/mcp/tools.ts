/** All tools of a server, in an order that stays. */
import type { Clock } from "../../wire.ts";
import { createContactNames } from "./contact-names.ts";
import type { FileFolder } from "./files.ts";
import type { Invoke } from "./invoke.ts";
import { createPlanTools } from "./plan-tools.ts";
import type { Plans } from "./plans.ts";
import { createReadTools } from "./read-tools.ts";
import type { Tool } from "./tool.ts";

/**
 * @param files undefined where no file may be read: then no tool takes one
 * @param plans undefined where nothing may be written
 */
export function createTools(
  { invoke, clock, files }: { invoke: Invoke; clock: Clock; files: FileFolder | undefined },
  plans: Plans | undefined,
): Tool[] {
  const readers = createReadTools(invoke, createContactNames(invoke, clock));
  return plans ? [...readers, ...createPlanTools(invoke, plans, files)] : readers;
}
