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
import { declinedError, type EcmError, exitCodes, usageError } from "../../errors.ts";
import type { Clock } from "../../wire.ts";
import { describeRefusal, isChange } from "../bulk/words.ts";
import { type Call, type CommandLine, Question, ToolFailure } from "./tool.ts";

const maxPlanAgeMilliseconds = 10 * 60_000;
/** Of one run, so many are shown. */
const maxRejects = 200;

/** What a token stands for. */
interface Planned {
  /** The command that carries it out. */
  words: readonly string[];
  /** Contacts that it writes, where that is known; of these, those that go for good. */
  writes?: number;
  deletions: number;
  /** The plan's file, where there is one; an erasure finds it and takes a person out of it. */
  file?: string;
  /** Removes the plan's file. What cannot be removed is swept later. */
  remove(): Promise<void>;
}

interface OpenPlan {
  /** Undefined once it was taken or removed. */
  plan: Planned | undefined;
  expires: number;
  isUsed: boolean;
}

/** The plans of a session. */
export class Plans {
  readonly #clock: Clock;
  readonly #stateFolder: string;
  readonly #open = new Map<string, OpenPlan>();
  /** By the run. */
  readonly #applied = new Map<string, Planned>();
  readonly #closing = new AbortController();
  #lastApplied: Promise<unknown> = Promise.resolve();

  constructor(clock: Clock, stateFolder: string) {
    this.#clock = clock;
    this.#stateFolder = stateFolder;
  }

  /** Makes a private place for a plan file. @throws UsageError where none can be made */
  async makePlace(): Promise<{ file: string } & Pick<Planned, "remove">> {
    const folder = await makePlanFolder(this.#stateFolder);
    const remove = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
    return { file: join(folder, "plan.ndjson"), remove };
  }

  /** @returns the token, and when it expires (RFC 3339) */
  keep(plan: Planned): { token: string; expiresAt: string } {
    const token = randomBytes(16).toString("hex");
    const expires = this.#clock.now() + maxPlanAgeMilliseconds;
    this.#open.set(token, { plan, expires, isUsed: false });
    // People's data is not kept for longer than it can be used.
    this.#clock
      .sleep(maxPlanAgeMilliseconds + 1, this.#closing.signal)
      .then(() => this.#removeOld())
      .catch(() => undefined);
    return { token, expiresAt: new Date(expires).toISOString() };
  }

  /** What the token stands for; it stays good. @throws as `take` */
  async look(token: string): Promise<Planned> {
    await this.#removeOld();
    const found = this.#open.get(token);
    if (!found) throw planRefusedError("No plan of this session has this token");
    if (found.isUsed) throw planRefusedError("This token has already been used");
    if (!found.plan) throw planRefusedError("This plan is older than 10 minutes");
    return found.plan;
  }

  /**
   * Uses the token up: the caller removes the plan.
   * @throws UsageError for one that is unknown, used, or too old
   */
  async take(token: string): Promise<Planned> {
    const plan = await this.look(token);
    Object.assign(this.#open.get(token)!, { plan: undefined, isUsed: true });
    return plan;
  }

  /** One after the other: each plan is compared with what the one before left. */
  applyNext<T>(apply: () => Promise<T>): Promise<T> {
    const applied = this.#lastApplied.then(apply);
    this.#lastApplied = applied.catch(() => undefined);
    return applied;
  }

  /** Keeps the plan of a run, for what it rejected, until the session ends. */
  keepApplied(run: string, plan: Planned): void {
    this.#applied.set(run, plan);
  }

  /** What the plan of a run rejected, as far as it is shown; nothing once somebody in it was erased. */
  findRejects(run: string): Promise<readonly PlanLine[]> {
    return readRejects(this.#applied.get(run)?.file);
  }

  /** Removes all plans. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#removeWhere(() => true);
    for (const plan of this.#applied.values()) await plan.remove();
  }

  #removeOld(): Promise<void> {
    return this.#removeWhere(({ expires }) => this.#clock.now() > expires);
  }

  async #removeWhere(isOver: (openPlan: OpenPlan) => boolean): Promise<void> {
    for (const openPlan of [...this.#open.values()].filter(isOver)) {
      const { plan } = openPlan;
      openPlan.plan = undefined;
      await plan?.remove();
    }
  }
}

/** Nothing was written. */
function planRefusedError(message: string): EcmError {
  return usageError(message, "Plan again, and apply the new plan", {
    type: "PlanRefusedError",
    applied: "no",
  });
}

/** Runs a bulk command. Rows that it rejects are no failure of it. @throws ToolFailure */
async function runBulk(
  { invoke }: Call,
  line: CommandLine | readonly string[],
): Promise<{ summary: Summary; messages: string[] }> {
  const { value, messages } = await invoke(line, { accepts: [exitCodes.rejectedRows], tellsProgress: true });
  return { summary: value as Summary, messages };
}

/**
 * A dry run, with the token that applies its plan.
 * @param line a bulk write, without the flags that say whether it is a rehearsal
 * @throws ToolFailure; UsageError
 */
export async function planCommand(
  plans: Plans,
  call: Call,
  line: CommandLine,
  maxShown: number,
): Promise<object> {
  const { file, remove } = await plans.makePlace();
  let isHandedOver = false;
  try {
    const flags = [...line.flags, "--dry-run", "--no-wait", `--plan=${file}`];
    const { summary, messages } = await runBulk(call, { ...line, flags });
    const { digest, writes, counts, sample, refusal } = await readPlan(file, maxShown);
    const total = sumCounts(counts);
    const { estimate, consent } = summary;
    const common = { counts, total, estimate, consent, sample, notShown: total - sample.length, messages };
    if (writes === 0) return { token: null, note: "Nothing would change", ...common };
    // Applying would refuse it too: there is nothing to hand a token out for.
    if (refusal) return { token: null, note: describeRefusal(refusal), ...common };
    isHandedOver = true;
    const words = ["apply", `--digest=${digest}`, "--yes", "--no-wait", "--", file];
    return { ...plans.keep({ words, writes, deletions: counts.delete ?? 0, file, remove }), ...common };
  } finally {
    if (!isHandedOver) await remove();
  }
}

/** Nothing is sent: what is left of the run is known. @throws UsageError for a run that is done */
export function planResume(plans: Plans, run: RunView): object {
  if (run.status === "completed" || run.status === "superseded") {
    throw usageError(`Run ${run.run} is done: there is nothing to resume`, "See runs_list");
  }
  const pending = run.rows?.pending;
  const token = plans.keep({
    words: ["runs", "resume", "--yes", "--no-wait", "--", run.run],
    writes: pending,
    deletions: run.kind === "delete" ? (pending ?? 0) : 0,
    remove: async () => {},
  });
  return { ...token, run, counts: { pending: pending ?? null } };
}

/**
 * What is shown of a plan: of its lines the first that change something, then the first that are skipped or
 * rejected, which have up to half of the room.
 */
async function readPlan(file: string, maxShown: number) {
  const plan = await openPlanFile(file);
  const { end, writes } = plan;
  const counts: Record<string, number> = {};
  for (const [action, count] of Object.entries(end.counts)) if (count > 0) counts[action] = count;
  const wantedOthers = Math.min(
    sumCounts(counts) - (counts.unchanged ?? 0) - writes,
    Math.max(Math.floor(maxShown / 2), maxShown - writes),
  );
  const wantedChanges = maxShown - wantedOthers;
  const changing: PlanLine[] = [];
  const others: PlanLine[] = [];
  for await (const line of plan.shownLines()) {
    if (changing.length >= wantedChanges && others.length >= wantedOthers) break;
    const group = isChange(line) ? changing : others;
    const wanted = group === changing ? wantedChanges : wantedOthers;
    if (line.action !== "unchanged" && group.length < wanted) group.push(line);
  }
  const refusal = findPlanRemovalFailure(plan);
  return { digest: end.digest, writes, counts, sample: [...changing, ...others], refusal };
}

/** The first that a plan rejected; none of a plan that has changed, as when a person in it was erased. */
async function readRejects(file: string | undefined): Promise<readonly PlanLine[]> {
  if (file === undefined) return [];
  const rejects: PlanLine[] = [];
  try {
    for await (const line of (await openPlanFile(file)).shownLines()) {
      if (line.action === "reject") rejects.push(line);
      if (rejects.length === maxRejects) break;
    }
    return rejects;
  } catch {
    return [];
  }
}

/** @returns a question first, where the client can ask its user @throws DeclinedError; UsageError; ToolFailure */
export async function applyPlan(plans: Plans, call: Call, token: string): Promise<object | Question> {
  const { canAsk, reply } = call.talk;
  if (canAsk) {
    const planned = await plans.look(token);
    if (!reply) return askToApply(planned);
    const { number, agreed } = reply.content ?? {};
    // Who deletes types the number of contacts.
    if (planned.deletions > 0 ? number !== planned.deletions : agreed !== true) throw declinedError();
  }
  const plan = await plans.take(token);
  return plans.applyNext(() => carryOut(plans, call, plan));
}

function askToApply({ writes, deletions }: Planned): Question {
  const contacts = (count: number) => `${count} ${count === 1 ? "contact" : "contacts"}`;
  return deletions > 0
    ? new Question(`${contacts(deletions)} will be deleted for good. Type the number to go on.`, {
        number: { type: "integer", title: "Number of contacts" },
      })
    : new Question(`${writes === undefined ? "Contacts" : contacts(writes)} will be written. Go on?`, {
        agreed: { type: "boolean", title: "Write them" },
      });
}

async function carryOut(plans: Plans, call: Call, plan: Planned): Promise<object> {
  let run: string | null | undefined;
  let rejects: readonly PlanLine[] = [];
  const noteRun = async (summary: Partial<Summary> | undefined) => {
    run = summary?.run;
    rejects = await readRejects(plan.file);
    return rejects.length > 0 ? { rejects } : {};
  };
  try {
    const applied = await runBulk(call, plan.words);
    return { ...applied, ...(await noteRun(applied.summary)) };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    const shown = await noteRun((error.failure as { summary?: Partial<Summary> }).summary);
    throw findRefusal(error) ?? new ToolFailure({ ...error.failure, ...shown });
  } finally {
    if (run && rejects.length > 0) plans.keepApplied(run, plan);
    else await plan.remove();
  }
}

/** In words of this session: the client knows of no plan file. Undefined for any other failure. */
function findRefusal({ type }: ToolFailure): EcmError | undefined {
  if (type === "PlanRefusedError") return planRefusedError("This plan was made for another account");
  if (type !== "PlanDamagedError") return undefined;
  return planRefusedError("This plan was changed after it was shown, as when a person in it is erased");
}
