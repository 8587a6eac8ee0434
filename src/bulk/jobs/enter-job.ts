/** Coming into a job's run and leaving it: the same for every job, whatever it plans. */
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { DeclinedError, type EcmError, InterruptedError, UsageError } from "../../errors.ts";
import type { RunContext } from "../plan/run-context.ts";
import { type EnteredRun, enterRun } from "../runs/enter.ts";
import type { Manifest } from "../runs/folder.ts";
import { type Closed, closeCompleted } from "./finish.ts";
import { MoveRefusedError } from "./move-pair.ts";

/** What a job says of its run. Where its files go, and what limits it, is the same for all. */
export type RunDescription = Omit<
  Manifest,
  "format" | "id" | "startedAt" | "rejects" | "plan" | "backup" | "guards"
>;

/**
 * @param spooled a folder made for an input that can be read only once
 * @throws LockedError; JournalDamagedError
 */
export function enterJob(
  { engine, clock, options, emit }: RunContext,
  about: RunDescription,
  {
    spooled,
    isFresh = options.isFresh,
  }: { spooled?: { id: string; folder: string }; isFresh?: boolean } = {},
): Promise<EnteredRun> {
  const { rejects, planFile, backUp, guards } = options;
  return enterRun({
    stateFolder: engine.stateFolder,
    now: clock.now(),
    about: {
      rejects: rejects === undefined ? undefined : resolve(rejects),
      plan: planFile === undefined ? undefined : resolve(planFile),
      backup: backUp?.target,
      guards,
      ...about,
    },
    spooled,
    isFresh,
    openJournalFile: engine.openJournalFile,
    onChanged: (older) => emit({ kind: "input-changed", older: older.id }),
    onUnreadable: ({ message }) => emit({ kind: "remark", text: `warning: ${message}` }),
    onTookOver: (whose) => emit({ kind: "remark", text: `Took over the run from ${whose}`, isAside: true }),
  });
}

/**
 * Does the work of a run that was entered, and leaves it. What was
 * refused before it began leaves nothing to resume.
 */
export async function leaveRun(
  context: RunContext,
  run: EnteredRun,
  work: () => Promise<Closed>,
  isUnfit: (closed: Closed) => boolean = () => false,
): Promise<Closed> {
  let isRefused = false;
  try {
    if (run.completed) return closeCompleted(context, run.completed);
    const closed = await work();
    isRefused = !run.isResumed && (endedBeforeWrites(closed.stop?.failure) || isUnfit(closed));
    if (isRefused) {
      context.emit({ kind: "refused", summary: { ...closed.summary, run: null, rejects: null } });
      throw closed.stop!.failure;
    }
    return closed;
  } finally {
    await run.leave();
    if (isRefused) await rm(run.folder, { recursive: true, force: true });
  }
}

/** Before the first write: a usage error, a person's no, or Ctrl-C in place of one. */
export function endedBeforeWrites(failure: EcmError | undefined): boolean {
  if (failure instanceof InterruptedError) return failure.details.applied === "no";
  // A plan that a guard has stopped stays, to be looked at.
  if (failure?.type === "GuardError") return false;
  if (failure instanceof MoveRefusedError) return true;
  return failure instanceof UsageError || failure instanceof DeclinedError;
}
