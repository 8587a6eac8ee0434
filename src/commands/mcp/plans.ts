/**
 * How a tool changes the account, in two steps: a plan with a token, and that plan carried out. Each plan is a
 * file among the runs until it is applied once, within ten minutes.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  findPlanRemovalFailure,
  makePlanFolder,
  openPlanFile,
  type PlanLine,
  type RunView,
  type Summary,
} from "../../bulk/index.ts";
import { sumCounts } from "../../counts.ts";
import { exitCodes, usageError } from "../../errors.ts";
import type { Clock } from "../../wire.ts";
import { describeRefusal } from "../bulk/words.ts";
import { type Call, type CommandLine, ToolFailure } from "./tool.ts";

const maxPlanAgeMilliseconds = 10 * 60_000;
/** Of one run, so many are shown. */
const maxRejects = 200;

/** What a token stands for. */
interface Planned {
  /** The command that carries it out. */
  words: readonly string[];
  /** The folder of the plan's file, where there is one; an erasure finds it and takes a person out of it. */
  folder?: string;
}

/** The plans of a session. */
export class Plans {
  readonly #clock: Clock;
  readonly #stateFolder: string;
  readonly #open = new Map<string, Planned & { expires: number }>();
  /** By the run. */
  readonly #applied = new Map<string, Planned>();
  readonly #closing = new AbortController();
  #lastApplied: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, stateFolder: string) {
    this.#clock = clock;
    this.#stateFolder = stateFolder;
  }

  /**
   * A dry run, with the token that applies its plan.
   * @param line a bulk write, without the flags that say whether it is a rehearsal
   * @throws ToolFailure; UsageError
   */
  async plan(call: Call, line: CommandLine, maxShown: number): Promise<object> {
    const folder = await makePlanFolder(this.#stateFolder);
    let token: object | undefined;
    try {
      const file = toFile(folder);
      const flags = [...line.flags, "--dry-run", "--no-wait", `--plan=${file}`];
      const summary = await runBulk(call, { ...line, flags });
      const plan = await openPlanFile(file);
      const counts = Object.fromEntries(Object.entries(plan.end.counts).filter(([, count]) => count > 0));
      const sample = await takeLines(file, maxShown, ({ action }) => action !== "unchanged");
      const total = sumCounts(counts);
      const { estimate, consent } = summary;
      const common = { counts, total, estimate, consent, sample, notShown: total - sample.length };
      // Applying it would be refused too: there is nothing to hand a token out for.
      const refusal = findPlanRemovalFailure(plan);
      if (plan.writes === 0) return { token: null, note: "Nothing would change", ...common };
      if (refusal) return { token: null, note: describeRefusal(refusal), ...common };
      const words = ["apply", `--digest=${plan.end.digest}`, "--yes", "--no-wait", "--", file];
      token = this.#keep({ words, folder });
      return { ...token, ...common };
    } finally {
      if (!token) await remove(folder);
    }
  }

  /** Nothing is sent: what is left of the run is known. @throws UsageError for a run that is done */
  planResume(run: RunView): object {
    if (run.status === "completed" || run.status === "superseded") {
      throw usageError(`Run ${run.run} is done: there is nothing to resume`, "See runs_list");
    }
    const words = ["runs", "resume", "--yes", "--no-wait", "--", run.run];
    return { ...this.#keep({ words }), run, counts: { pending: run.rows?.pending ?? null } };
  }

  /** Uses the token up, and carries its plan out: one after the other, each compared with what the one before left. */
  apply(call: Call, token: string): Promise<object> {
    const planned = this.#find(token);
    this.#open.delete(token);
    const applied = this.#lastApplied.then(() => this.#carryOut(call, planned));
    this.#lastApplied = applied.catch(() => undefined);
    return applied;
  }

  /** What the plan of a run rejected, as far as it is shown; nothing once somebody in it was erased. */
  async findRejects(run: string): Promise<readonly PlanLine[]> {
    return readRejects(this.#applied.get(run)?.folder);
  }

  /** Removes all plans. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { folder } of [...this.#open.values(), ...this.#applied.values()]) await remove(folder);
  }

  #keep(planned: Planned): { token: string; expiresAt: string } {
    const token = randomBytes(16).toString("hex");
    const expires = this.#clock.now() + maxPlanAgeMilliseconds;
    this.#open.set(token, { ...planned, expires });
    // People's data is not kept for longer than it can be used.
    this.#clock
      .sleep(maxPlanAgeMilliseconds + 1, this.#closing.signal)
      .then(async () => {
        if (this.#clock.now() <= expires || !this.#open.delete(token)) return;
        await remove(planned.folder);
      })
      .catch(() => undefined);
    return { token, expiresAt: new Date(expires).toISOString() };
  }

  #find(token: string): Planned {
    const planned = this.#open.get(token);
    if (planned && this.#clock.now() <= planned.expires) return planned;
    throw usageError(
      "No open plan of this session has this token: it is unknown, used, or older than 10 minutes",
      "Plan again, and apply the new plan",
      { type: "PlanRefusedError", applied: "no" },
    );
  }

  async #carryOut(call: Call, planned: Planned): Promise<object> {
    const { words, folder } = planned;
    let run: string | null | undefined;
    const rejects = await readRejects(folder);
    const shown = rejects.length > 0 ? { rejects } : {};
    try {
      const summary = await runBulk(call, words);
      run = summary.run;
      return { summary, ...shown };
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      run = (error.failure.summary as Partial<Summary> | undefined)?.run;
      throw new ToolFailure({ ...error.failure, ...shown });
    } finally {
      if (run && rejects.length > 0) this.#applied.set(run, planned);
      else await remove(folder);
    }
  }
}

const toFile = (folder: string) => join(folder, "plan.ndjson");

/** What cannot be removed is swept later. */
async function remove(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/** Runs a bulk command. Rows that it rejects are no failure of it. @throws ToolFailure */
async function runBulk({ invoke }: Call, line: CommandLine | readonly string[]): Promise<Summary> {
  return (await invoke(line, { accepts: [exitCodes.rejectedRows] })).value as Summary;
}

/** The first lines of a plan's file that are wanted. @throws UsageError for one that was changed */
async function takeLines(
  file: string,
  count: number,
  isWanted: (line: PlanLine) => boolean,
): Promise<PlanLine[]> {
  const taken: PlanLine[] = [];
  for await (const line of (await openPlanFile(file)).shownLines()) {
    if (taken.length === count) break;
    if (isWanted(line)) taken.push(line);
  }
  return taken;
}

/** None of a plan that has changed, as when a person in it was erased. */
async function readRejects(folder: string | undefined): Promise<PlanLine[]> {
  if (folder === undefined) return [];
  return takeLines(toFile(folder), maxRejects, ({ action }) => action === "reject").catch(() => []);
}
