import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerRunsList } from "./list.ts";
import { registerRunsRejects } from "./rejects.ts";
import { registerRunsRemove } from "./remove.ts";
import { registerRunsResume } from "./resume.ts";
import { registerRunsRetry } from "./retry.ts";
import { registerRunsShow } from "./show.ts";
import { registerRunsUndo } from "./undo.ts";

export function register(runs: Command, context: Context): void {
  registerRunsList(runs, context);
  registerRunsShow(runs, context);
  registerRunsResume(runs, context);
  registerRunsRejects(runs, context);
  registerRunsRetry(runs, context);
  registerRunsUndo(runs, context);
  registerRunsRemove(runs, context);
}
