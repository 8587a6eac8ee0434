/** All tools of a server, in an order that stays. */
import { createContactNames } from "./contact-names.ts";
import { mailTools } from "./mail-tools.ts";
import { createPlanTools } from "./plan-tools.ts";
import type { Plans } from "./plans.ts";
import { readContactTools, readRunTools } from "./read-tools.ts";
import type { Tool } from "./tool.ts";
import type { Toolkit } from "./toolkit.ts";

/** @param plans undefined where nothing may be written */
export function createTools(toolkit: Toolkit, plans: Plans | undefined): Tool[] {
  const names = createContactNames(toolkit.invoke, toolkit.clock);
  const readers = [...readContactTools(toolkit, names), ...mailTools(toolkit), ...readRunTools(toolkit)];
  return plans ? [...readers, ...createPlanTools(toolkit, plans)] : readers;
}
