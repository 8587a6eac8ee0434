/**
 * Tools change the account in two steps: one makes a plan with a token, another applies the plan. A plan is a
 * file in the runs folder until it is applied, once and within ten minutes.
 */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { makePlanFolder, openPlanFile, type PlanLine, type RunView, type Summary } from "../../bulk/index.ts";
import { sumCounts } from "../../counts.ts";
import { exitCodes, isKind, usageError } from "../../errors.ts";
import type { Clock } from "../../wire.ts";
import { takeLines } from "../bulk/plan.ts";
import { type Call, type CommandLine, ToolFailure } from "./tool.ts";

const maxPlanAgeMilliseconds = 10 * 60_000;
/** The most rejected rows that are shown of one plan. */
const maxRejects = 200;

/** What a token stands for. */
interface Planned {
  /** The command that applies the plan. */
  words: readonly string[];
  /** The folder of the plan's file, if it has one. An erasure finds the file and removes a person from it. */
  folder?: string;
}

/** The plans of a session. */
export class Plans {
  readonly #clock: Clock;
  readonly #stateFolder: string;
  readonly #open = new Map<string, Planned & { expires: number }>();
  /** The plans that were applied, by the id of their run. */
  readonly #applied = new Map<string, Planned>();
  readonly #closing = new AbortController();
  #lastApplied: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, stateFolder: string) {
    this.#clock = clock;
    this.#stateFolder = stateFolder;
  }

  /**
   * Makes a dry run and returns it with the token that applies its plan.
   * @param line the bulk command, without flags of a dry run
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
      const isShown = ({ action }: PlanLine) => action !== "unchanged";
      const sample = await takeLines({ lines: plan.shownLines }, maxShown, isShown);
      const total = sumCounts(counts);
      const { estimate, consent } = summary;
      const common = { counts, total, estimate, consent, sample, notShown: total - sample.length };
      if (plan.writes === 0) return { token: null, note: "Nothing would change", ...common };
      const words = ["apply", `--digest=${plan.end.digest}`, "--yes", "--no-wait", "--", file];
      token = this.#keep({ words, folder });
      return { ...token, ...common };
    } finally {
      if (!token) await remove(folder);
    }
  }

  /** Returns a token that resumes the run; sends no request. @throws UsageError for a run that is done */
  planResume(run: RunView): object {
    if (run.status === "completed" || run.status === "superseded") {
      throw usageError(`Run ${run.run} is done: there is nothing to resume`, "See runs_list");
    }
    const words = ["runs", "resume", "--yes", "--no-wait", "--", run.run];
    return { ...this.#keep({ words }), run, counts: { pending: run.rows?.pending ?? null } };
  }

  /** Applies the plan of a token, once; one plan after another, so that each sees the changes before it. */
  apply(call: Call, token: string): Promise<object> {
    const planned = this.#find(token);
    this.#open.delete(token);
    const applied = this.#lastApplied.then(() => this.#carryOut(call, planned));
    this.#lastApplied = applied.catch(() => undefined);
    return applied;
  }

  /** The rejected rows of an applied plan; none once a person in the plan was erased. */
  findRejects(run: string): Promise<readonly PlanLine[]> {
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
    // The plan holds personal data: it is removed when its token expires.
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

/** A folder that cannot be removed now is removed by a later command. */
async function remove(folder: string | undefined): Promise<void> {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/** Runs a bulk command; rejected rows are not a failure. @throws ToolFailure */
async function runBulk({ invoke }: Call, line: CommandLine | readonly string[]): Promise<Summary> {
  return (await invoke(line, { accepts: [exitCodes.rejectedRows] })).value as Summary;
}

/** The rejected rows of a plan; none where its file is gone or was changed, as by an erasure. */
async function readRejects(folder: string | undefined): Promise<PlanLine[]> {
  if (folder === undefined) return [];
  try {
    const { shownLines } = await openPlanFile(toFile(folder));
    return await takeLines({ lines: shownLines }, maxRejects, ({ action }) => action === "reject");
  } catch (error) {
    if (!isKind(error, "damaged plan", "usage")) throw error;
    return [];
  }
}
