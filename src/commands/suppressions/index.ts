import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerSuppressionsAdd } from "./add.ts";
import { registerSuppressionsCheck } from "./check.ts";
import { registerSuppressionsList } from "./list.ts";
import { registerSuppressionsRemove } from "./remove.ts";

export function register(suppressions: Command, context: Context): void {
  registerSuppressionsAdd(suppressions, context);
  registerSuppressionsList(suppressions, context);
  registerSuppressionsRemove(suppressions, context);
  registerSuppressionsCheck(suppressions, context);
}
