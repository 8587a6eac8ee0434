import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { listStructuresRequest } from "../api/structures.ts";
import type { StoredRun } from "../bulk/index.ts";
import { readCachedBehaviors } from "../config/caches.ts";
import { inspectFolders, type PlaceState } from "../config/folder-rights.ts";
import { maskKey } from "../config/keys.ts";
import type { ResolvedProfile } from "../config/resolve.ts";
import type { Context } from "../context.ts";
import { formatCounted } from "../counts.ts";
import { describeDiskError } from "../disk/disk-errors.ts";
import { EcmError, failedError, isAbout, isKind } from "../errors.ts";
import { advise, ecm, type Hint, quoteShellWord } from "../hint.ts";
import { formatRateLimitSentence } from "../rate-limits.ts";
import { describeBehavior, findLastLearned, readFreshBehavior } from "../service/behavior.ts";
import { escapeControls } from "../terminal/escape.ts";
import { isForPeople } from "../terminal/format.ts";
import { fitMessage } from "../terminal/message-lines.ts";
import { toColumns, type View } from "../terminal/present.ts";
import { createStyle } from "../terminal/style.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ApiAnswer, RateLimits } from "../wire.ts";
import { commandOnRun, formatForAccount } from "./help/command-line.ts";
import { verb } from "./verb.ts";

const view: View<ShownFinding> = {
  columns: toColumns("status", "check", "message", "hint"),
  id: ({ check }) => check,
};

export function register(command: Command, context: Context): void {
  verb(context, command, {
    examples: ["ecm doctor", "ecm doctor --profile staging --json"],
    output:
      "One line per check (pass, warn or fail): key, base URL, clock, limits, what is known of the service's behavior, folders, unfinished runs. Sends one request.",
    exitCodes: { 0: "no check failed; there may be warnings", 1: "a check failed" },
    view,
    async run() {
      const findings = await examine(context);
      const shown = isForPeople(context.output())
        ? { text: drawFindings(context.terminal, findings), value: findings }
        : { many: findings };
      const failed = findings.filter(({ status }) => status === "fail").map(({ check }) => check);
      if (failed.length === 0) return shown;
      const message = `${failed.length} of ${findings.length} checks failed: ${failed.join(", ")}`;
      const type = "ChecksFailedError";
      return { ...shown, failure: failedError(message, "Each failed check says what to do", { type }) };
    },
  });
}

async function examine(context: Context): Promise<ShownFinding[]> {
  // Inspect first, since opening the profiles corrects their rights.
  const places = await inspectFolders(context.folders, context.platform);
  const findings = [
    ...(await examineAccount(context)),
    ...(await examineBehavior(context)),
    ...places.map(checkFolder),
    await examineRuns(context),
  ];
  return findings.map(({ hint, ...finding }) => ({
    ...finding,
    hint: hint === undefined ? undefined : formatForAccount(hint, context.settings),
  }));
}

/** Checks profile, key, address, clock and budget; ends at the first that fails. */
async function examineAccount(context: Context): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const profile = await context.profile();
    const place = profile.isSandbox ? "the embedded service" : profile.baseUrl.value;
    findings.push(pass("profile", `${profile.name?.value ?? "none: the environment"}, ${place}`));
    findings.push(await examineKey(context, profile));
    const { send } = await context.connect();
    const start = context.clock.now();
    const answer = await send(listStructuresRequest(), { expect: "any" });
    const now = context.clock.now();
    const answered = checkAnswer(answer, place, Math.round(now - start), now);
    // The service's verdict on the key replaces ours.
    if (answered.some(({ check }) => check === "key")) findings.pop();
    findings.push(...answered);
  } catch (error) {
    if (!(error instanceof EcmError) || context.signal.aborted) throw error;
    const usesSandbox = existsSync(join(context.folders.state, "sandbox"));
    if (findings.length === 0 && isKind(error, "no key") && usesSandbox) {
      const words = "No profile is selected: the sandbox is used with --profile sandbox";
      const hint = advise`For all commands: ${ecm`auth use sandbox`}; for a real account: ${ecm`auth login`}`;
      return [warn("profile", words, hint)];
    }
    const check = ["profile", "key"][findings.length] ?? "address";
    findings.push(fail(check, error.message, error.details.hint));
  }
  return findings;
}

async function examineKey(context: Context, profile: ResolvedProfile): Promise<Finding> {
  if (profile.isSandbox) return pass("key", "the embedded service makes its own");
  const { value, source } = await profile.key(context.signal);
  return pass("key", `${maskKey(value)}, from the ${source}`);
}

/** What earlier commands have learned about the service where its documents are silent. Sends no request. */
async function examineBehavior(context: Context): Promise<Finding[]> {
  const profile = await context.profile().catch(() => undefined);
  if (!profile) return [];
  const behaviors = readCachedBehaviors(context.folders, profile.baseUrl.value);
  return Object.entries(behaviors).map(([structureId, points]) => {
    const known = readFreshBehavior(points, context.clock.now());
    const words = describeBehavior(known);
    const since = findLastLearned(known)?.slice(0, 10);
    return pass(
      "behavior",
      words.length === 0
        ? `nothing learned yet about structure ${structureId}`
        : `learned about structure ${structureId}, last on ${since}: ${words.join("; ")}`,
    );
  });
}

async function examineRuns(context: Context): Promise<Finding> {
  const { folders, terminal } = context;
  const { listRuns, viewRun } = await import("../bulk/index.ts");
  let found: StoredRun[];
  try {
    found = await listRuns(folders.state, ({ message }) => terminal.warn(message));
  } catch (error) {
    return fail("runs", `The runs cannot be read: ${describeDiskError(error)}`);
  }
  const unfinished = (await Promise.all(found.map(viewRun))).filter(
    ({ status }) => status === "stopped" || status === "unfinished",
  );
  const [newest] = unfinished;
  if (!newest) return pass("runs", "No unfinished runs");
  const { baseUrl, profile, run, kind, file } = newest;
  const account = { baseUrl, profile: profile ?? undefined };
  const resume = await commandOnRun(context, account, ecm`runs resume ${run}`);
  return warn(
    "runs",
    `${unfinished.length} unfinished, the newest ${run} (${kind} of ${file})`,
    advise`Resume with: ${resume}; list all with: ${ecm`runs list`}`,
  );
}

interface Finding {
  check: string;
  status: "pass" | "warn" | "fail";
  message: string;
  hint?: Hint;
}

type ShownFinding = Omit<Finding, "hint"> & { hint?: string };

const toFinding =
  (status: Finding["status"]) =>
  (check: string, message: string, hint?: Hint): Finding => ({ check, status, message, hint });
const pass = toFinding("pass");
const warn = toFinding("warn");
const fail = toFinding("fail");

/** In seconds. With a larger difference, waits for the end of the hour are wrong. */
const maxSkewSeconds = 30;

function checkAnswer(answer: ApiAnswer, place: string, milliseconds: number, now: number): Finding[] {
  const { status, problem, headers, limits, body } = answer;
  const answered = pass("address", `${place} answered in ${milliseconds} ms`);
  const { hint, limit } = problem?.details ?? {};
  if (status === 401 || status === 403) {
    // Where the account is suspended, nothing is wrong with the key.
    const check = isAbout(problem, "no_api_access") ? "account" : "key";
    return [answered, fail(check, problem?.message ?? `HTTP ${status}`, hint)];
  }
  // A service that counts requests has answered, so nothing is wrong with the address.
  const clock = checkClock(headers.date, now);
  if (limit === "hour") return [answered, ...clock, fail("budget", "the hourly limit is used up", hint)];
  if (limit === "month") return [answered, ...clock, fail("budget", "the monthly quota is used up", hint)];
  if (problem) return [fail("address", problem.message, hint)];
  if (!Array.isArray(body)) {
    return [fail("address", `${place} answers, but not as the API does`, "Check the base URL")];
  }
  return [answered, ...clock, checkLimits(limits, now)];
}

function checkClock(date: string | undefined, now: number): Finding[] {
  const then = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(then)) return [];
  const skewSeconds = Math.round((now - then) / 1000);
  if (Math.abs(skewSeconds) <= maxSkewSeconds) return [pass("clock", "agrees with the service's")];
  const words = `this machine's is ${Math.abs(skewSeconds)} s ${skewSeconds > 0 ? "ahead of" : "behind"} the service's`;
  return [warn("clock", words, "Set this machine's clock")];
}

function checkLimits(limits: RateLimits, now: number): Finding {
  const left = formatRateLimitSentence(limits, now);
  if (left === undefined) return warn("budget", "The service sent no limits with its answer");
  const isLow = ({ month, hour }: RateLimits) =>
    [month, hour].some((part) => part !== undefined && part.remaining < part.limit / 10);
  return isLow(limits) ? warn("budget", left, "Less than a tenth is left") : pass("budget", left);
}

const variables = {
  "config folder": "ECM_CONFIG_DIR",
  "profiles file": "ECM_CONFIG_DIR",
  "state folder": "ECM_STATE_DIR",
  "cache folder": "ECM_CACHE_DIR",
};

function checkFolder({ name, path, state, detail }: PlaceState): Finding {
  const found = {
    private: pass(name, path),
    missing: pass(name, `${path}: created when needed`),
    open: warn(name, `${path}: readable by other users (${detail})`, `chmod go-rwx ${quoteShellWord(path)}`),
    full: fail(
      name,
      `${path}: the disk is full`,
      `Make room on the disk of ${path}: ecm could not write down what a run does`,
    ),
    unusable: fail(
      name,
      `${path}: ${detail}`,
      `Fix its permissions, or choose another folder with ${variables[name]}`,
    ),
  };
  return found[state];
}

const marks = { pass: "✓", warn: "!", fail: "✗" } as const;

/** The findings as lines for people: mark, check and message, and the hint below them. */
function drawFindings(terminal: Terminal, findings: readonly ShownFinding[]): string {
  const { green, yellow, red, dim } = createStyle(terminal.isColored.out);
  const paint = { pass: green, warn: yellow, fail: red };
  // A screen reader cannot read a mark.
  const toMark = (status: Finding["status"]) => (terminal.isAccessible ? status : marks[status]);
  const widest = Math.max(...findings.map(({ check }) => check.length));
  const hang = toMark("pass").length + widest + 3;
  const wrapped = (line: string) => fitMessage(line, terminal.columns, hang);
  const lines = findings.flatMap(({ status, check, message, hint }) => {
    const start = `${paint[status](toMark(status))} ${check.padEnd(widest)}`;
    const line = wrapped(`${start}  ${escapeControls(message)}`);
    return hint === undefined ? line : [line, wrapped(`${" ".repeat(hang)}${dim(escapeControls(hint))}`)];
  });
  return `${lines.join("\n")}\n${formatVerdict(findings)}`;
}

/** Nothing where a check failed: the error that follows says it. */
function formatVerdict(findings: readonly ShownFinding[]): string {
  if (findings.some(({ status }) => status === "fail")) return "";
  const warnings = findings.filter(({ status }) => status === "warn").length;
  if (warnings > 0) return `\n${formatCounted(warnings, "warning")}. Nothing is broken.\n`;
  return "\nEverything is fine.\n";
}
