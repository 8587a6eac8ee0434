/**
 * How a tool changes the account, in two steps: a dry run with a token, and its plan applied with that token.
 */
import { openPlanFile, type PlanLine, refusalRemark, type Summary, sumCounts } from "../../bulk/index.ts";
import { DeclinedError, exitCodes, type UsageError } from "../../errors.ts";
import { isChange } from "../shared/bulk/difference.ts";
import { toShownLine } from "../shared/bulk/plan-object.ts";
import type { Words } from "./arguments.ts";
import type { Invoke } from "./invoke.ts";
import { type Plans, type PrivatePlan, planRefusedError } from "./plans.ts";
import {
  createInputSchema,
  type InputSchema,
  maxRows,
  type OutputSchema,
  Question,
  readOnlyAnnotations,
  type Talk,
  type Tool,
  ToolFailure,
  textSchema,
} from "./tool.ts";
import { joinWords, type Offered, offerArguments, type Toolkit } from "./toolkit.ts";

const messagesSchema = { type: "array", items: { type: "string" } };
export const runOutput: OutputSchema = {
  type: "object",
  properties: { summary: { type: "object" }, messages: messagesSchema },
  required: ["summary"],
};
const planOutput: OutputSchema = {
  type: "object",
  properties: {
    token: { type: ["string", "null"] },
    expiresAt: { type: "string" },
    note: { type: "string" },
    counts: { type: "object" },
    total: { type: "integer" },
    estimate: { type: "object" },
    consent: { type: "object" },
    sample: { type: "array", items: { type: "object" } },
    notShown: { type: "integer" },
  },
  required: ["token", "counts", "sample"],
};

const defaultSampleRows = 20;

/** A bulk write without the flags that say whether it is a rehearsal. */
interface PlannedCommand {
  words: Words;
  path: readonly string[];
  stdin?: string;
}

/** What a tool adds to the words that its input stands for. */
export interface Completion {
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
    outputSchema: planOutput,
    annotations: { title: tool.title, ...readOnlyAnnotations, idempotentHint: false },
    path: tool.path,
    names: new Map([...names, ...(tool.ownNames ?? [])]),
    async call(input: { sample?: number }, signal, talk) {
      const { flags = [], args, stdin } = await tool.complete(input as never, signal);
      const given = await toWords(input);
      const words = { flags: [...given.flags, ...flags], args: args ?? given.args };
      const command = { path: tool.path, words, stdin };
      return createPlan(toolkit.invoke, plans, { command, sample: input.sample, talk }, signal);
    },
  };
}

/**
 * Runs a bulk command, and tells the client how far it is. Rows that it rejects are no failure of it.
 * @throws ToolFailure
 */
export async function runBulk(
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
    const { digest, writes, counts, sample } = await readPlan(file, maxShown);
    const total = sumCounts(counts);
    const { estimate, consent } = summary;
    const common = { counts, total, estimate, consent, sample, notShown: total - sample.length, messages };
    if (writes === 0) return { token: null, note: "Nothing would change", ...common };
    // Applying would refuse it too: there is nothing to hand a token out for.
    const refusal = messages.find((message) => message.startsWith(refusalRemark));
    if (refusal !== undefined) return { token: null, note: refusal, ...common };
    isHandedOver = true;
    const size = { deletions: counts.delete ?? 0, writes };
    return { ...plans.keep({ file, digest, remove, ...size }), ...common };
  } finally {
    if (!isHandedOver) await remove();
  }
}

/**
 * What is shown of a plan: of its lines the first that change something, then the first that are skipped or
 * rejected, which have up to half of the room.
 */
async function readPlan(file: string, maxShown: number) {
  const { end, writes, lines } = await openPlanFile(file);
  const counts: Record<string, number> = {};
  for (const [action, count] of Object.entries(end.counts)) if (count > 0) counts[action] = count;
  const wantedOthers = Math.min(
    sumCounts(counts) - (counts.unchanged ?? 0) - writes,
    Math.max(Math.floor(maxShown / 2), maxShown - writes),
  );
  const wantedChanges = maxShown - wantedOthers;
  const changing: PlanLine[] = [];
  const others: PlanLine[] = [];
  for await (const line of lines()) {
    if (changing.length >= wantedChanges && others.length >= wantedOthers) break;
    const group = isChange(line) ? changing : others;
    const wanted = group === changing ? wantedChanges : wantedOthers;
    if (line.action !== "unchanged" && group.length < wanted) group.push(toShownLine(line));
  }
  return { digest: end.digest, writes, counts, sample: [...changing, ...others] };
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
      "Carries out a plan of this session exactly as it was shown. Each contact is looked up again; one that has changed since is not written, but skipped with the code changed. A token works once, for 10 minutes. Returns the run's summary.",
    inputSchema: createInputSchema({ token: textSchema("from a plan_ tool") }, { required: ["token"] }),
    outputSchema: runOutput,
    annotations: {
      title: "Apply a plan",
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
    },
    async call({ token }: { token: string }, signal, talk) {
      if (talk.canAsk) requireAgreement(await plans.look(token), talk.reply);
      const privatePlan = await plans.take(token);
      // One after the other: each plan is compared with what the one before left.
      const applied = last.then(() => applyPlan(invoke, privatePlan, { signal, talk }));
      last = applied.catch(() => undefined);
      return applied;
    },
  };
}

/** The client's user says yes, or types the number of contacts that go for good. @throws Question; DeclinedError */
function requireAgreement({ writes, deletions }: PrivatePlan, reply: Talk["reply"]): void {
  const contacts = (count: number) => `${count} ${count === 1 ? "contact" : "contacts"}`;
  if (!reply) {
    throw deletions > 0
      ? new Question(`${contacts(deletions)} will be deleted for good. Type the number to go on.`, {
          number: { type: "integer", title: "Number of contacts" },
        })
      : new Question(`${contacts(writes)} will be written. Go on?`, {
          agreed: { type: "boolean", title: "Write them" },
        });
  }
  const { number, agreed } = reply.content ?? {};
  if (deletions > 0 ? number !== deletions : agreed !== true) throw new DeclinedError();
}

async function applyPlan(
  invoke: Invoke,
  { file, digest, remove }: PrivatePlan,
  { signal, talk }: { signal: AbortSignal; talk: Talk },
): Promise<object> {
  const words = ["apply", `--digest=${digest}`, "--yes", "--no-wait", "--", file];
  try {
    return await runBulk(invoke, words, { signal, talk });
  } catch (error) {
    throw findRefusal(error) ?? error;
  } finally {
    await remove();
  }
}

/** In words of this session: the client knows of no plan file. Undefined for any other failure. */
function findRefusal(error: unknown): UsageError | undefined {
  const { type } = error instanceof ToolFailure ? (error.failure as { error: { type?: string } }).error : {};
  if (type === "PlanRefusedError") return planRefusedError("This plan was made for another account");
  if (type !== "PlanDamagedError") return undefined;
  return planRefusedError("This plan was changed after it was shown, as when a person in it is erased");
}
