import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { listStructuresRequest } from "../../api/structures.ts";
import { readCachedBehaviors } from "../../config/caches.ts";
import { inspectFolders } from "../../config/folder-rights.ts";
import { isUsualKey, maskKey } from "../../config/keys.ts";
import { findProxy } from "../../config/proxy.ts";
import type { ResolvedProfile } from "../../config/resolve.ts";
import type { Context } from "../../context.ts";
import { EcmError, exitCodes, failedError, isKind } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { readFreshBehavior } from "../../service/behavior.ts";
import { isForPeople } from "../../terminal/format.ts";
import type { View } from "../../terminal/present.ts";
import { commandOnRun, formatForAccount } from "../help/command-line.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents } from "../output/presents.ts";
import {
  checkAnswer,
  checkBehavior,
  checkFolder,
  checkRuns,
  checkSandboxAlone,
  drawFindings,
  type Finding,
  fail,
  pass,
  type ShownFinding,
  warn,
} from "./findings.ts";

const view: View<ShownFinding> = {
  columns: [
    { name: "status", value: (finding) => finding.status },
    { name: "check", value: (finding) => finding.check },
    { name: "message", value: (finding) => finding.message },
    { name: "hint", value: (finding) => finding.hint },
  ],
  id: (finding) => finding.check,
};

export function registerDoctor(command: Command, context: Context): void {
  describeCommand(command, {
    examples: ["ecm doctor", "ecm doctor --profile staging --json"],
    output:
      "One line per check (pass, warn or fail): key, base URL, clock, limits, what is known of the service's behavior, folders, unfinished runs. Sends one request.",
    exitCodes: { 0: "no check failed; there may be warnings", 1: "a check failed" },
  });
  command.action(
    presents(context, { view }, async () => {
      const isRead = isForPeople(context.output());
      const findings = await examine(context, !isRead || context.settings.verbose !== "no");
      const failed = findings.filter((finding) => finding.status === "fail").map(({ check }) => check);
      const shown = isRead
        ? { text: drawFindings(context.terminal, findings), value: findings }
        : { many: findings };
      if (failed.length === 0) return shown;
      const message = `${failed.length} of ${findings.length} checks failed: ${failed.join(", ")}`;
      // A person has just read which ones.
      if (!isRead || !context.terminal.isStdoutTerminal)
        return {
          ...shown,
          failure: failedError(message, "Each failed check says what to do", { type: "ChecksFailedError" }),
        };
      context.endWith(exitCodes.failed);
      return shown;
    }),
  );
}

/** @param isWhole also what is usual about the service */
async function examine(context: Context, isWhole: boolean): Promise<ShownFinding[]> {
  // First: opening the profiles fixes their rights.
  const places = await inspectFolders(context.folders, context.platform);
  return [
    ...(await examineAccount(context)),
    ...(await examineBehavior(context, isWhole)),
    ...places.map(checkFolder),
    await examineRuns(context),
  ].map((finding) => ({
    ...finding,
    hint: finding.hint === undefined ? undefined : formatForAccount(finding.hint, context.settings),
  }));
}

/** Profile, key, address, clock and budget, as far as one leads to the next. */
async function examineAccount(context: Context): Promise<Finding[]> {
  const findings: Finding[] = [];
  try {
    const profile = await context.profile();
    const place = profile.isSandbox ? "the embedded service" : profile.baseUrl.value;
    findings.push(pass("profile", `${profile.name?.value ?? "none: the environment"}, ${place}`));
    findings.push(...checkProxy(context, profile));
    findings.push(await examineKey(context, profile));
    const answered = await examineService(context, place);
    // What the service says of the key counts for more than its form.
    if (answered.some((finding) => finding.check === "key")) findings.pop();
    findings.push(...answered);
  } catch (error) {
    if (!(error instanceof EcmError) || context.signal.aborted) throw error;
    if (
      findings.length === 0 &&
      isKind(error, "no key") &&
      existsSync(join(context.folders.state, "sandbox"))
    )
      return [checkSandboxAlone()];
    const examined = new Set(findings.map(({ check }) => check));
    const check = ["profile", "key"].find((each) => !examined.has(each)) ?? "address";
    findings.push(fail(check, error.message, error.details.hint));
  }
  return findings;
}

/** What is known of the service where its documents are silent; without a request. */
async function examineBehavior(context: Context, isWhole: boolean): Promise<Finding[]> {
  const profile = await context.profile().catch(() => undefined);
  if (!profile) return [];
  const behaviors = readCachedBehaviors(context.folders.state, profile.baseUrl.value);
  return Object.entries(behaviors).map(([structureId, points]) =>
    checkBehavior(structureId, readFreshBehavior(points, context.clock.now()), isWhole),
  );
}

/** Said only where there is one. */
function checkProxy({ terminal }: Context, { baseUrl, isSandbox }: ResolvedProfile): Finding[] {
  const proxy = isSandbox ? undefined : findProxy(baseUrl.value, terminal.env);
  if (!proxy) return [];
  return [pass("proxy", `requests go through ${proxy.shown} (${proxy.variable})`)];
}

async function examineKey(context: Context, profile: ResolvedProfile): Promise<Finding> {
  if (profile.isSandbox) return pass("key", "the embedded service makes its own");
  const { value, source } = await profile.key(context.signal);
  const words = `${maskKey(value)}, from the ${source}`;
  return isUsualKey(value)
    ? pass("key", words)
    : warn("key", `${words}: does not look like an API key of 50 characters`);
}

async function examineRuns(context: Context): Promise<Finding> {
  const { folders, terminal } = context;
  const { listRuns, viewRun } = await import("../../bulk/index.ts");
  const found = await listRuns(folders.state, ({ message }) => terminal.warn(message));
  const runs = await Promise.all(found.map(viewRun));
  const open = runs.filter(({ status }) => status === "stopped" || status === "unfinished");
  const [newest] = open;
  if (!newest) return checkRuns(open);
  const { baseUrl, profile, run } = newest;
  const account = { baseUrl, profile: profile ?? undefined };
  return checkRuns(open, await commandOnRun(context, account, ecm`runs resume ${run}`));
}

async function examineService(context: Context, place: string): Promise<Finding[]> {
  const { send } = await context.connect();
  const start = context.clock.now();
  const answer = await send(listStructuresRequest(), { expect: "any" });
  const milliseconds = Math.round(context.clock.now() - start);
  return checkAnswer(answer, place, milliseconds, context.clock.now());
}
