/** `--report FILE.html`: a page about a run, or about what it would do, for somebody else to read. */

import { basename } from "node:path";
import { findRun, type Manifest, type PlanLine, readingsOf, type Summary } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { exitCodes, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { formatUtcTime } from "../../moments.ts";
import { fillSink, openFileOutput } from "../../terminal/output-file.ts";
import type { ReportFlags } from "../flags/bulk.ts";
import { drawList, drawTable, formatPage, type Markup, markup } from "../output/page.ts";
import { formatChanges, maxChangesReported, maxRejectsReported, type SeenPlan } from "./plan.ts";
import { hasRows, listOutcomes } from "./result.ts";
import { describeCode, formatCost, formatReasons, listCreated, shortenValue, withReason } from "./words.ts";

/** The page of a run that was just done, or of a dry run. @param plan of a dry run */
export async function reportRun(
  context: Context,
  flags: ReportFlags,
  summary: Summary,
  plan: SeenPlan = { creations: [], changes: [], rejects: [] },
): Promise<void> {
  const { run, rows } = summary;
  // What was refused before its input was read has nothing to tell.
  if (run === null && rows.read === 0) return;
  const read = async () => (run === null ? plan : readSeen(await findRun(context.folders.state, run)));
  await writeReport(context, flags, summary, read);
}

/** The page of a run that has ended, or that was stopped. @throws UsageError */
export async function reportEarlierRun(
  context: Context,
  run: { manifest: Manifest; folder: string },
  flags: ReportFlags,
): Promise<void> {
  const { summary, id } = run.manifest;
  if (!summary) {
    throw usageError(
      `Run ${id} has no summary: it was interrupted, or is still under way`,
      advise`Resume it first: ${ecm`runs resume ${id}`}`,
    );
  }
  context.files.writes(flags.report!, "--report");
  await writeReport(context, flags, summary, () => readSeen(run));
}

/** The run is over: what fails here is said, and takes nothing else with it. */
async function writeReport(
  context: Context,
  { report: file = "", redact: isRedacted = false }: ReportFlags,
  summary: Summary,
  read: () => Promise<Report["plan"]>,
): Promise<void> {
  const { terminal, clock } = context;
  try {
    const page = formatReport({ summary, plan: await read(), at: new Date(clock.now()), isRedacted });
    await fillSink(await openFileOutput(file, { flag: "--report" }), (sink) => sink.write(page));
    terminal.note(`Report: ${file}`);
  } catch (error) {
    terminal.warn(`No report: ${(error as Error).message}`);
    context.endWith(exitCodes.failed);
  }
}

/** What the plan and the journal of a run tell. */
async function readSeen(run: { manifest: Manifest; folder: string }): Promise<Report["plan"]> {
  const readings = readingsOf(run);
  const rejects: SeenPlan["rejects"] = [];
  for await (const { value, ...reject } of readings.rejects())
    if (rejects.push({ ...reject, key: value }) === maxRejectsReported) break;
  const changes = (await readings.changes(maxChangesReported)).map(withReason);
  const { account, startedAt } = run.manifest;
  return { head: await readings.head(), creations: [], changes, rejects, account, startedAt };
}

// A report as one page that needs nothing else: no script, no request. Pure.

interface Report {
  summary: Summary;
  /** Account and start are those of a run, which may have stopped before its plan had a head. */
  plan: SeenPlan & Partial<Pick<Manifest, "account" | "startedAt">>;
  /** When it is written. */
  at: Date;
  /** Nobody can be recognised by it: what a rejected row holds is left out whole. */
  isRedacted: boolean;
}

export function formatReport(report: Report): string {
  const { kind, status, stoppedBy, file: path } = report.summary;
  const states = {
    "dry-run": "Dry run: nothing was written",
    completed: "Completed",
    stopped: `Stopped (${stoppedBy ?? "unknown"}): the rest was not attempted`,
  };
  // Conditions, which stand in the place of a file where contacts were chosen, may name people.
  const file = report.isRedacted && !hasRows(report.summary) ? "" : hide(report, basename(path));
  const name = kinds[kind] ?? kind;
  return formatPage(
    file === "" ? name : `${name}: ${file}`,
    markup`<p class="${status === "stopped" ? "status warn" : "status"}">${states[status]}</p>`,
    [
      formatAbout(report),
      formatOutcomes(report),
      formatConsent(report),
      formatContacts(report),
      formatRejects(report),
    ],
  );
}

const kinds: Record<string, string> = {
  import: "Import",
  mutate: "Change of contacts",
  unsubscribe: "Unsubscription",
  delete: "Deletion",
  sync: "Sync of a list",
  undo: "Undo",
  apply: "Applied plan",
};

function formatAbout(report: Report): Markup {
  const { run, status, estimate, requests } = report.summary;
  const { head, creations, account = head?.account, startedAt = head?.createdAt } = report.plan;
  const isDryRun = status === "dry-run";
  const written = formatUtcTime(report.at.toISOString());
  const facts = {
    Account: account?.baseUrl,
    Run: run,
    [run === null ? "Planned" : "Started"]: startedAt && formatUtcTime(startedAt),
    Report: report.isRedacted ? `${written}, without addresses and values` : written,
    Price: isDryRun
      ? `a real run would send ${formatCost(estimate.requests, estimate.seconds)}`
      : formatCounted(requests.total, "request"),
    "Created first": listCreated(creations.map(({ what, name }) => ({ what, name: hide(report, name) }))),
  };
  const rows = Object.entries(facts).filter(([, value]) => value);
  return markup`<dl>${rows.map(([name, value]) => markup`<dt>${name}</dt><dd>${value!}</dd>`)}</dl>`;
}

function formatOutcomes({ summary }: Report): Markup {
  const outcomes = listOutcomes(summary);
  const rows = formatCounted(summary.rows.read, hasRows(summary) ? "row" : "contact");
  if (outcomes.length === 0) return markup`<h2>Result</h2><p>${rows}; nothing to do</p>`;
  const lines = outcomes.map(({ number, words, reasons }) => [words, number, formatReasons(reasons)]);
  return markup`<h2>Result: ${rows}</h2>${drawTable(["Outcome", "Number", "Reasons"], lines)}`;
}

/** How a consent column was read. */
const readings = {
  "opt-in": "a yes means subscribed",
  "opt-out": "a yes means not subscribed",
  words: "read as consent",
};

function formatConsent(report: Report): Markup | undefined {
  const { consent, kind } = report.summary;
  const counts: [number, string][] = [
    [consent.not_subscribed, "not created: the file says not subscribed"],
    [consent.suppressed, "not created: on the suppression list"],
    [consent.inactive, "inactive in the account: they get no mail, and the run does not change that"],
    [consent.marked, "active in the account although the file says not subscribed"],
  ];
  const counted = counts.filter(([number]) => number > 0);
  const columns = (report.plan.head?.table?.columns ?? []).flatMap(({ name, target }) => {
    if (target.kind !== "consent") return [];
    const shown = JSON.stringify(hide(report, name));
    return [markup`<p>Column <bdi>${shown}</bdi>: ${readings[target.reading ?? "words"]}</p>`];
  });
  const isEnd = kind === "unsubscribe" || kind === "delete";
  if ((counted.length === 0 && columns.length === 0) || isEnd) return undefined;
  const outcomes = counted.length === 0 ? markup`<p>Everybody is subscribed</p>` : drawTable([], counted);
  return markup`<h2>Consent</h2>${columns}${outcomes}`;
}

function formatContacts({ summary: { rows, status }, plan, isRedacted }: Report): Markup | undefined {
  const changes = isRedacted ? plan.changes.map(createPlanRedactor()) : plan.changes;
  if (changes.length === 0) return undefined;
  const all = Math.max(rows.created + rows.updated + rows.deleted, changes.length);
  const heading = status === "dry-run" ? "What would change" : "What was changed";
  const lines = changes.map((line) => {
    const note = line.message ? [markup`<span class="quiet">${line.message}</span>`] : [];
    return [line.key, line.action, drawList([...formatChanges(line), ...note])];
  });
  return markup`<h2>${heading}: ${formatCounted(all, "contact")}</h2>
${drawTable(["Contact", "What", "Change"], lines)}${formatMore(all - changes.length)}`;
}

function formatMore(more: number): Markup | undefined {
  return more > 0 ? markup`<p class="quiet">… and ${formatCount(more)} more</p>` : undefined;
}

function formatRejects({ summary, plan: { rejects }, isRedacted }: Report): Markup | undefined {
  if (rejects.length === 0) return undefined;
  const lines = rejects.map(({ line, key, code, message }) => {
    const reason = describeCode(code ?? "");
    return isRedacted ? [line || "", reason] : [line || "", shortenValue(key), message || reason];
  });
  const heads = isRedacted ? ["Line", "Reason"] : ["Line", "Value", "Reason"];
  return markup`<h2>Rejected</h2>${drawTable(heads, lines)}${formatMore(summary.rows.rejected - rejects.length)}`;
}

// Without the people in it.

function hide({ isRedacted }: Report, text: string): string {
  return isRedacted ? hideAddresses(text) : text;
}

/** Lines of the input take the place of addresses; contacts that are on none are numbered after them. */
export function createPlanRedactor(): (line: PlanLine) => PlanLine {
  let last = 0;
  return ({ line, action, code, changes }) => {
    const number = line ?? last + 1;
    last = Math.max(last, number);
    return {
      ...{ line, key: `#${number}`, contactId: null, action, code, message: null },
      changes: changes.map(({ what, name, before, after }) => ({
        ...{ what, name: hideAddresses(name), before: redactText(before), after: redactText(after) },
      })),
    };
  };
}

/** Lists, tags and files may be named after people. */
function hideAddresses(text: string): string {
  return text.replace(/[^\s<>"'`,;:()[\]{}|]+@[^\s<>"'`,;:()[\]{}|]+/gu, "…");
}

/** That a value is emptied, or was empty, is told; no value is. */
function redactText<T>(value: T): T | string {
  return typeof value === "string" && value !== "" ? "…" : value;
}
