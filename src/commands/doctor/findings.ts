/** What `ecm doctor` finds: one line for each thing examined, and how people read it. Pure. */
import type { RunView } from "../../bulk/index.ts";
import type { PlaceState } from "../../config/folder-rights.ts";
import { formatCount } from "../../counts.ts";
import { advise, ecm, type Hint, quoteShellWord, type ShownCommand } from "../../hint.ts";
import { formatMoment } from "../../moments.ts";
import { describeBehavior, findLastLearned, type KnownBehavior } from "../../service/behavior.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { measureWidth, wrap } from "../../terminal/text-width.ts";
import type { ApiAnswer, RateLimits } from "../../wire.ts";

export interface Finding {
  check: string;
  status: "pass" | "warn" | "fail";
  message: string;
  hint?: Hint;
}

/** A finding with its hint as text. */
export type ShownFinding = Omit<Finding, "hint"> & { hint?: string };

export const pass = (check: string, message: string): Finding => ({ check, status: "pass", message });
export const warn = (check: string, message: string, hint?: Hint): Finding => ({
  check,
  status: "warn",
  message,
  hint,
});
export const fail = (check: string, message: string, hint?: Hint): Finding => ({
  check,
  status: "fail",
  message,
  hint,
});

/** Nobody has logged in, and the sandbox is in use. */
export const checkSandboxAlone = (): Finding =>
  warn(
    "profile",
    "No profile is selected: the sandbox is used with --profile sandbox",
    advise`For all commands: ${ecm`auth use sandbox`}; for a real account: ${ecm`auth login`}`,
  );

/** With a clock that is off by more than this, in seconds, waits for the end of the hour are wrong. */
const maxSkewSeconds = 30;

/** What the answer to a read shows about key, address, clock and limits. */
export function checkAnswer(answer: ApiAnswer, place: string, milliseconds: number, now: number): Finding[] {
  const { status, problem, headers, limits, body } = answer;
  if (status === 401 || status === 403) {
    // A suspended account has a key as good as before.
    const check = /does not have API access/i.test(problem?.message ?? "") ? "account" : "key";
    const refused = fail(check, problem?.message ?? `HTTP ${status}`, problem?.details.hint);
    return [pass("address", describeAnswerTime(place, milliseconds)), refused];
  }
  const limit = problem?.details.limit;
  if (problem && (limit === "hour" || limit === "month")) {
    // Who counts requests has answered: nothing is wrong with the address.
    const words = limit === "hour" ? "the hourly limit is used up" : "the monthly quota is used up";
    return [
      pass("address", describeAnswerTime(place, milliseconds)),
      ...checkClock(headers.date, now),
      fail("budget", words, problem.details.hint),
    ];
  }
  if (problem) return [fail("address", problem.message, problem.details.hint)];
  if (!Array.isArray(body)) {
    return [fail("address", `${place} answers, but not as the API does`, "Check the base URL")];
  }
  return [
    pass("address", describeAnswerTime(place, milliseconds)),
    ...checkClock(headers.date, now),
    checkLimits(limits, now),
  ];
}

function describeAnswerTime(place: string, milliseconds: number): string {
  return `${place} answered in ${milliseconds} ms`;
}

function checkClock(date: string | undefined, now: number): Finding[] {
  const then = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(then)) return [];
  const skewSeconds = Math.round((now - then) / 1000);
  if (Math.abs(skewSeconds) <= maxSkewSeconds) return [pass("clock", "agrees with the service's")];
  const words = `this machine's is ${Math.abs(skewSeconds)} s ${skewSeconds > 0 ? "ahead of" : "behind"} the service's`;
  return [warn("clock", words, "Set this machine's clock")];
}

function checkLimits({ hour, month }: RateLimits, now: number): Finding {
  const resets = hour?.reset === undefined ? "" : `, resets ${formatMoment(hour.reset * 1000, now)}`;
  const parts = [
    hour && `hour ${formatCount(hour.remaining)} of ${formatCount(hour.limit)}${resets}`,
    month && `month ${formatCount(month.remaining)} of ${formatCount(month.limit)}`,
  ].filter((part) => part !== undefined);
  if (parts.length === 0) return warn("budget", "The service sent no limits with its answer");
  const words = `left: ${parts.join(" · ")}`;
  if (month && month.remaining < month.limit / 10)
    return warn("budget", words, "Less than a tenth of the monthly quota is left");
  if (hour && hour.remaining < hour.limit / 10)
    return warn("budget", words, "Less than a tenth of the hourly limit is left");
  return pass("budget", words);
}

/**
 * What earlier commands have learned of how the service behaves for a structure.
 * @param isWhole every point, and not only how many there are
 */
export function checkBehavior(structureId: string, knownBehavior: KnownBehavior, isWhole: boolean): Finding {
  const words = describeBehavior(knownBehavior);
  const since = findLastLearned(knownBehavior)?.slice(0, 10);
  if (words.length === 0) return pass("behavior", `nothing learned yet about structure ${structureId}`);
  const learned = `learned about structure ${structureId}, last on ${since}`;
  return pass(
    "behavior",
    isWhole
      ? `${learned}: ${words.join("; ")}`
      : `${formatCount(words.length)} points ${learned}; with --verbose all of them`,
  );
}

const variables = {
  "config folder": "ECM_CONFIG_DIR",
  "profiles file": "ECM_CONFIG_DIR",
  "state folder": "ECM_STATE_DIR",
  "cache folder": "ECM_CACHE_DIR",
};

export function checkFolder({ name, path, state, detail }: PlaceState): Finding {
  if (state === "private") return pass(name, path);
  if (state === "missing") return pass(name, `${path}: created when needed`);
  if (state === "full") {
    const hint = `Make room on the disk of ${path}: ecm could not write down what a run does`;
    return fail(name, `${path}: the disk is full`, hint);
  }
  if (state === "unusable")
    return fail(
      name,
      `${path}: ${detail}`,
      `Fix its permissions, or choose another folder with ${variables[name]}`,
    );
  const hint =
    name.startsWith("c") || name === "profiles file"
      ? "ecm makes it private again the next time it uses it"
      : `chmod 700 ${quoteShellWord(path)}`;
  return warn(name, `${path}: readable by other users (${detail})`, hint);
}

/**
 * @param runs those that are not done, the newest first, of whichever account
 * @param resume the command that resumes the newest
 */
export function checkRuns(runs: RunView[], resume?: ShownCommand): Finding {
  const [newest] = runs;
  if (!newest || !resume) return pass("runs", "No unfinished runs");
  const open = runs.reduce((sum, run) => sum + run.open, 0);
  const unknown =
    open > 0 ? `; unknown whether ${open} ${open === 1 ? "write was" : "writes were"} applied` : "";
  const words = `${runs.length} unfinished, the newest ${newest.run} (${newest.kind} of ${newest.file})${unknown}`;
  return warn("runs", words, advise`Resume with: ${resume}; list all with: ${ecm`runs list`}`);
}

const marks = { pass: "✓", warn: "!", fail: "✗" } as const;

/** A mark, what was examined, what was found, and below it what to do. @returns whole lines, wrapped at the terminal's width */
export function drawFindings(terminal: Terminal, findings: readonly ShownFinding[]): string {
  const { green, yellow, red, dim } = createStyle(terminal.isColored.out);
  const paint = { pass: green, warn: yellow, fail: red };
  const widest = Math.max(...findings.map(({ check }) => measureWidth(check)));
  // Read aloud, a mark says nothing.
  const toMark = (status: Finding["status"]) => (terminal.isAccessible ? status : marks[status]);
  const markWidth = Math.max(...findings.map(({ status }) => measureWidth(toMark(status))));
  const indent = " ".repeat(markWidth + 1 + widest + 2);
  const room = Math.max(20, terminal.columns - indent.length);
  const lines = findings.flatMap(({ status, check, message, hint }) => {
    const head = `${paint[status](toMark(status).padEnd(markWidth))} ${check.padEnd(widest)}  `;
    const [first = "", ...more] = wrap(escapeControls(message), room);
    const hints = hint === undefined ? [] : wrap(escapeControls(hint), room);
    return [
      `${head}${first}`,
      ...more.map((line) => indent + line),
      ...hints.map((line) => indent + dim(line)),
    ];
  });
  return `${[...lines, "", formatVerdict(findings)].join("\n")}\n`;
}

function formatVerdict(findings: readonly ShownFinding[]): string {
  const countStatus = (status: Finding["status"]) => findings.filter((each) => each.status === status).length;
  const [warnings, failures] = [countStatus("warn"), countStatus("fail")];
  if (failures > 0) return `${failures} of ${findings.length} checks failed.`;
  if (warnings > 0) return `${warnings} ${warnings === 1 ? "warning" : "warnings"}. Nothing is broken.`;
  return "Everything is fine.";
}
