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
  type Summary,
} from "../../bulk/index.ts";
import { sumCounts } from "../../counts.ts";
import { declinedError, type EcmError, exitCodes, usageError } from "../../errors.ts";
import type { Clock } from "../../wire.ts";
import { isChange } from "../bulk/difference.ts";
import { describeRefusal } from "../bulk/words.ts";
import { type Invoke, ToolFailure } from "./invoke.ts";
import {
  createInputSchema,
  type InputSchema,
  joinWords,
  maxRows,
  type Offered,
  offerArguments,
  Question,
  readOnlyAnnotations,
  type Talk,
  type Tool,
  type Toolkit,
  textSchema,
  type Words,
} from "./tool.ts";

const maxPlanAgeMilliseconds = 10 * 60_000;

/** What a token stands for. */
export interface Planned {
  /** The command that carries it out, without whether it may be asked. */
  words: readonly string[];
  /** Contacts that it writes, where that is known; of these, those that go for good. */
  writes?: number;
  deletions: number;
  /** The plan's file, where there is one; an erasure finds it and takes a person out of it. */
  file?: string;
  /** Removes the plan's file. What cannot be removed is swept later. */
  remove(): Promise<void>;
}

export interface Plans {
  /** Makes a private place for a plan file. @throws UsageError where none can be made */
  open(): Promise<{ file: string } & Pick<Planned, "remove">>;
  /** @returns the token, and when it expires (RFC 3339) */
  keep(plan: Planned): { token: string; expiresAt: string };
  /** What the token stands for; it stays good. @throws as `take` */
  look(token: string): Promise<Planned>;
  /**
   * Uses the token up: the caller removes the plan.
   * @throws UsageError for one that is unknown, used, or too old
   */
  take(token: string): Promise<Planned>;
  /** Keeps the plan of a run, for what it rejected, until the session ends. */
  keepApplied(run: string, plan: Planned): void;
  /** What the plan of a run rejected, as far as it is shown; nothing once somebody in it was erased. */
  findRejects(run: string): Promise<readonly PlanLine[]>;
  /** Removes all plans. */
  close(): Promise<void>;
}

interface OpenPlan {
  /** Undefined once it was taken or removed. */
  plan: Planned | undefined;
  expires: number;
  isUsed: boolean;
}

export function createPlans(clock: Clock, stateFolder: string): Plans {
  const plans = new Map<string, OpenPlan>();
  const appliedPlans = new Map<string, Planned>();
  const closing = new AbortController();

  async function removeWhere(isOver: (openPlan: OpenPlan) => boolean): Promise<void> {
    for (const openPlan of [...plans.values()].filter(isOver)) {
      const { plan } = openPlan;
      openPlan.plan = undefined;
      await plan?.remove();
    }
  }

  /** What is too old is gone. */
  const removeOld = () => removeWhere(({ expires }) => clock.now() > expires);

  function find(token: string): OpenPlan & { plan: Planned } {
    const openPlan = plans.get(token);
    if (!openPlan) throw planRefusedError("No plan of this session has this token");
    if (openPlan.isUsed) throw planRefusedError("This token has already been used");
    const { plan } = openPlan;
    if (!plan) throw planRefusedError("This plan is older than 10 minutes");
    return Object.assign(openPlan, { plan });
  }

  return {
    async open() {
      const folder = await makePlanFolder(stateFolder);
      const remove = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
      return { file: join(folder, "plan.ndjson"), remove };
    },
    keep(plan) {
      const token = randomBytes(16).toString("hex");
      const expires = clock.now() + maxPlanAgeMilliseconds;
      plans.set(token, { plan, expires, isUsed: false });
      // People's data is not kept for longer than it can be used.
      clock
        .sleep(maxPlanAgeMilliseconds + 1, closing.signal)
        .then(removeOld)
        .catch(() => undefined);
      return { token, expiresAt: new Date(expires).toISOString() };
    },
    async look(token) {
      await removeOld();
      return find(token).plan;
    },
    async take(token) {
      await removeOld();
      const openPlan = find(token);
      const { plan } = openPlan;
      Object.assign(openPlan, { plan: undefined, isUsed: true });
      return plan;
    },
    keepApplied: (run, plan) => void appliedPlans.set(run, plan),
    findRejects: (run) => readRejects(appliedPlans.get(run)?.file),
    async close() {
      closing.abort();
      await removeWhere(() => true);
      for (const plan of appliedPlans.values()) await plan.remove();
    },
  };
}

/** Nothing was written. */
function planRefusedError(message: string): EcmError {
  return usageError(message, "Plan again, and apply the new plan", {
    type: "PlanRefusedError",
    applied: "no",
  });
}

const defaultSampleRows = 20;

/** A bulk write without the flags that say whether it is a rehearsal. */
interface PlannedCommand {
  words: Words;
  path: readonly string[];
  stdin?: string;
}

/** What a tool adds to the words that its input stands for. */
export interface Completion {
  /** Another command than the tool's. */
  path?: readonly string[];
  flags?: string[];
  /** In place of those of the input. */
  args?: string[];
  stdin?: string;
}

/** A tool that plans: which command it rehearses. */
export interface PlanTool extends Offered {
  name: string;
  title: string;
  description: string;
  required?: string[];
  /** Arguments that the tool takes otherwise than its command. */
  own?: InputSchema["properties"];
  /** Which flags of the command these stand for. */
  ownNames?: readonly (readonly [flag: string, name: string])[];
  /** @param input valid by the schema. @throws UsageError */
  complete(input: never, signal: AbortSignal): Promise<Completion>;
}

/** What every plan takes besides what is to be done. */
const sampleInput = {
  sample: {
    type: "integer",
    minimum: 0,
    maximum: maxRows,
    default: defaultSampleRows,
    description: "lines of the plan to return",
  },
};

/** @param plans of this session */
export function createPlanTool(toolkit: Toolkit, plans: Plans, tool: PlanTool): Tool {
  const { properties, names, toWords } = offerArguments(toolkit, tool);
  const all = { ...properties, ...tool.own, ...sampleInput };
  return {
    name: tool.name,
    description: `${tool.description} Writes nothing: gives counts, a sample, a token for apply_plan.`,
    inputSchema: createInputSchema(all, tool.required && { required: tool.required }),
    annotations: { title: tool.title, ...readOnlyAnnotations, idempotentHint: false },
    path: tool.path,
    names: new Map([...names, ...(tool.ownNames ?? [])]),
    async call(input: { sample?: number }, signal, talk) {
      const { path = tool.path, flags = [], args, stdin } = await tool.complete(input as never, signal);
      const given = await toWords(input);
      const words = { flags: [...given.flags, ...flags], args: args ?? given.args };
      const command = { path, words, stdin };
      return createPlan(toolkit.invoke, plans, { command, sample: input.sample, talk }, signal);
    },
  };
}

/**
 * Runs a bulk command, and tells the client how far it is. Rows that it rejects are no failure of it.
 * @throws ToolFailure
 */
async function runBulk(
  invoke: Invoke,
  words: string[],
  { stdin, signal, talk }: { stdin?: string; signal: AbortSignal; talk: Talk },
): Promise<{ summary: Summary; messages: string[] }> {
  const { value, messages } = await invoke(words, {
    stdin,
    signal,
    observer: { progress: talk.watch },
    accepts: [exitCodes.rejectedRows],
  });
  return { summary: value as Summary, messages };
}

/** A dry run, with the token that applies its plan. @throws ToolFailure; UsageError */
async function createPlan(
  invoke: Invoke,
  plans: Plans,
  request: { command: PlannedCommand; sample?: number; talk: Talk },
  signal: AbortSignal,
): Promise<object> {
  const { command, sample: maxShown = defaultSampleRows, talk } = request;
  const { file, remove } = await plans.open();
  let isHandedOver = false;
  try {
    const { path, words, stdin } = command;
    const rehearsal = { ...words, flags: [...words.flags, "--dry-run", "--no-wait", `--plan=${file}`] };
    const { summary, messages } = await runBulk(invoke, joinWords(path, rehearsal), { stdin, signal, talk });
    if (summary.stoppedBy !== null)
      throw new ToolFailure({ error: incompletePlanFailure, summary, messages });
    const { digest, writes, counts, sample, refusal } = await readPlan(file, maxShown);
    const total = sumCounts(counts);
    const { estimate, consent } = summary;
    const common = { counts, total, estimate, consent, sample, notShown: total - sample.length, messages };
    if (writes === 0) return { token: null, note: "Nothing would change", ...common };
    // Applying would refuse it too: there is nothing to hand a token out for.
    if (refusal) return { token: null, note: describeRefusal(refusal), ...common };
    isHandedOver = true;
    const apply = ["apply", `--digest=${digest}`, "--yes", "--no-wait", "--", file];
    const planned = { words: apply, writes, deletions: counts.delete ?? 0, file, remove };
    return { ...plans.keep(planned), ...common };
  } finally {
    if (!isHandedOver) await remove();
  }
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
      if (rejects.length === maxRows) break;
    }
    return rejects;
  } catch {
    return [];
  }
}

const incompletePlanFailure = {
  type: "PlanRefusedError",
  message: "The plan was not completed, so there is nothing to apply",
  exitCode: 2,
  applied: "no",
};

/** @param plans of this session */
export function createApplyTool(invoke: Invoke, plans: Plans): Tool {
  let last: Promise<unknown> = Promise.resolve();
  return {
    name: "apply_plan",
    description:
      "Carries out a plan of this session exactly as it was shown. Each contact is looked up again; one that has changed since is not written, but skipped with the code changed. A token works once, for 10 minutes. Returns the run's summary, and what the plan rejected.",
    inputSchema: createInputSchema({ token: textSchema("from a plan_ tool") }, { required: ["token"] }),
    annotations: {
      title: "Apply a plan",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
    },
    async call({ token }: { token: string }, signal, talk) {
      if (talk.canAsk) requireAgreement(await plans.look(token), talk.reply);
      const planned = await plans.take(token);
      // One after the other: each plan is compared with what the one before left.
      const applied = last.then(() => applyPlan(invoke, plans, planned, { signal, talk }));
      last = applied.catch(() => undefined);
      return applied;
    },
  };
}

/** The client's user says yes, or types the number of contacts that go for good. @throws Question; DeclinedError */
function requireAgreement({ writes, deletions }: Planned, reply: Talk["reply"]): void {
  const contacts = (count: number) => `${count} ${count === 1 ? "contact" : "contacts"}`;
  if (!reply) {
    throw deletions > 0
      ? new Question(`${contacts(deletions)} will be deleted for good. Type the number to go on.`, {
          number: { type: "integer", title: "Number of contacts" },
        })
      : new Question(`${writes === undefined ? "Contacts" : contacts(writes)} will be written. Go on?`, {
          agreed: { type: "boolean", title: "Write them" },
        });
  }
  const { number, agreed } = reply.content ?? {};
  if (deletions > 0 ? number !== deletions : agreed !== true) throw declinedError();
}

async function applyPlan(
  invoke: Invoke,
  plans: Plans,
  plan: Planned,
  call: { signal: AbortSignal; talk: Talk },
): Promise<object> {
  let run: string | null | undefined;
  let rejects: readonly PlanLine[] = [];
  const noteRun = async (summary: Partial<Summary> | undefined) => {
    run = summary?.run;
    rejects = await readRejects(plan.file);
    return rejects.length > 0 ? { rejects } : {};
  };
  try {
    const applied = await runBulk(invoke, [...plan.words], call);
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
function findRefusal({ failure }: ToolFailure): EcmError | undefined {
  const { type } = (failure as { error: { type?: string } }).error;
  if (type === "PlanRefusedError") return planRefusedError("This plan was made for another account");
  if (type !== "PlanDamagedError") return undefined;
  return planRefusedError("This plan was changed after it was shown, as when a person in it is erased");
}
