import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerPlanShow } from "./show.ts";

export function registerPlan(command: Command, context: Context): void {
  registerPlanShow(command, context);
}
