/** Where a plan and what is read for it are kept. */
import { randomBytes } from "node:crypto";
import { access, constants } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../../disk/make-folder.ts";
import type { Engine, RunContext } from "../plan/run-context.ts";
import type { EnteredRun } from "../runs/enter.ts";
import { fileNames, toRunsFolder } from "../runs/folder.ts";

export function planPath({ folder }: EnteredRun): string {
  return join(folder, fileNames.plan);
}

export interface PlanPlace {
  /** Undefined where nobody wants to read the plan of a dry run. */
  file: string | undefined;
  /** Where pages of the account are kept until the plan is closed. */
  scratch: string;
}

/**
 * A real run keeps its plan in its folder; a dry run in a place of its own, which must also be found where
 * nothing can be written.
 */
export async function choosePlanPlace(
  { engine, options }: RunContext,
  run: EnteredRun | undefined,
): Promise<PlanPlace> {
  if (run) return { file: planPath(run), scratch: join(run.folder, fileNames.snapshot) };
  const folder = await createScratchFolder(engine);
  const name = join(folder, `.dry-run-${randomBytes(6).toString("hex")}`);
  const isPlanNeeded = options.takePlan !== undefined || options.rejects !== undefined;
  return { file: isPlanNeeded ? `${name}.ndjson` : undefined, scratch: name };
}

async function createScratchFolder({ stateFolder }: Engine): Promise<string> {
  const folder = toRunsFolder(stateFolder);
  try {
    makeFolder(folder);
    await access(folder, constants.W_OK);
    return folder;
  } catch {
    return tmpdir();
  }
}
