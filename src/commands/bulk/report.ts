/** `--report FILE.html`: a page about a run, or about what it would do, for somebody else to read. */

import { basename } from "node:path";
import {
  type Closed,
  type ClosedPlan,
  findRun,
  type Manifest,
  type PlanChange,
  type PlanLine,
  type Reject,
  readingsOf,
  type Summary,
} from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { exitCodes, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { fillSink, openFileOutput } from "../../terminal/output-file.ts";
import { type ReportFlags, requireReportFlags } from "../flags/bulk.ts";
import { foldList, foldRows, formatPage, type Markup, markup } from "../output/page.ts";
import { listOutcomes, type ShownOutcome } from "./result.ts";
import { formatAboutDuration, formatReasons, isChange, listCreated, toShownReject } from "./words.ts";

export interface ReportOutput {
  /** Of a dry run: its plan is closed, and its lines follow. */
  begin(plan: ClosedPlan): void;
  add(line: PlanLine): void;
  write(closed: Closed): Promise<void>;
}

/** A page with more is slow to open, and nobody reads it. */
const maxChanges = 1000;
const maxRejects = 100;

type Details = Pick<Report, "account" | "startedAt" | "created" | "consentColumns" | "changes" | "rejects">;

/** Undefined where none was asked for. @throws UsageError when the file cannot be written */
export function openReport(
  context: Context,
  { report: file, redact }: ReportFlags,
): ReportOutput | undefined {
  requireReportFlags({ report: file, redact });
  if (file === undefined) return undefined;
  const target = openTarget(context, file);
  const planned: Details = {
    account: "",
    startedAt: "",
    created: [],
    consentColumns: [],
    changes: [],
    rejects: [],
  };
  return {
    begin({ head, creations }) {
      planned.account = head.account.baseUrl;
      planned.startedAt = head.createdAt;
      planned.consentColumns.push(...listConsentColumns(head));
      planned.created.push(...creations.map(({ what, name }) => ({ what, name })));
    },
    add(line) {
      if (isChange(line) && planned.changes.length < maxChanges) planned.changes.push(line);
      if (line.action === "reject" && planned.rejects.length < maxRejects)
        planned.rejects.push(toReject(line));
    },
    async write({ summary }) {
      // What was refused before its input was read has nothing to tell.
      if (summary.run === null && summary.rows.read === 0) return;
      const { run } = summary;
      const readRun = async () => readDetails(await findRun(context.folders.state, run!));
      await target.write(summary, run === null ? async () => planned : readRun, redact ?? false);
    },
  };
}

/** The page of a run that has ended, or that was stopped. @throws UsageError */
export async function writeRunReport(
  context: Context,
  run: { manifest: Manifest; folder: string },
  { report: file = "", redact = false }: ReportFlags,
): Promise<void> {
  const { summary } = run.manifest;
  if (!summary) {
    throw usageError(
      `Run ${run.manifest.id} has no summary: it was interrupted, or is still under way`,
      advise`Resume it first: ${ecm`runs resume ${run.manifest.id}`}`,
    );
  }
  await openTarget(context, file).write(summary, () => readDetails(run), redact);
}

function openTarget(context: Context, file: string) {
  const flag = "--report";
  const { terminal, files } = context;
  files.writes(file, flag);
  return {
    /** The run is over: what fails here is said, and takes nothing else with it. */
    async write(summary: Summary, read: () => Promise<Details>, isRedacted: boolean): Promise<void> {
      const writtenAt = new Date(context.clock.now()).toISOString();
      try {
        const report = { ...(await read()), summary, writtenAt };
        const page = formatReport(isRedacted ? redactReport(report) : { ...report, isRedacted: false });
        await fillSink(await openFileOutput(file, { flag }), (sink) => sink.write(page));
        terminal.note(`Report: ${file}`);
      } catch (error) {
        terminal.warn(`No report: ${(error as Error).message}`);
        context.endWith(exitCodes.failed);
      }
    },
  };
}

/** From the plan and the journal of a run. */
async function readDetails(run: { manifest: Manifest; folder: string }): Promise<Details> {
  const readings = readingsOf(run);
  const rejects: Details["rejects"] = [];
  for await (const reject of readings.rejects()) {
    if (rejects.push(reject) === maxRejects) break;
  }
  const head = await readings.head();
  return {
    account: run.manifest.account.baseUrl,
    startedAt: run.manifest.startedAt,
    created: [],
    consentColumns: head ? listConsentColumns(head) : [],
    changes: await readings.changes(maxChanges),
    rejects,
  };
}

function listConsentColumns({ table }: ClosedPlan["head"]): Report["consentColumns"] {
  return (table?.columns ?? []).flatMap(({ name, target }) =>
    target.kind === "consent" ? [{ name, ...(target.reading && { reading: target.reading }) }] : [],
  );
}

function toReject({ line, key, code, message }: PlanLine): Report["rejects"][number] {
  return { line: line ?? 0, value: key, code: code ?? "", message: message ?? "" };
}

/** Nobody can be recognised by it: what a rejected row holds is left out whole. */
function redactReport(report: Omit<Report, "isRedacted">): Report {
  const redact = createPlanRedactor();
  const hideAll = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (_, part: unknown) =>
      typeof part === "string" ? hideAddresses(part) : part,
    ) as T;
  return {
    ...report,
    isRedacted: true,
    summary: { ...hideAll(report.summary), file: "" },
    created: hideAll(report.created),
    changes: report.changes.map(redact),
    rejects: report.rejects.map((reject) => ({ ...reject, value: "", message: "" })),
  };
}

// A report as one page that needs nothing else: no script, no request. Pure.

export interface Report {
  summary: Summary;
  /** RFC 3339. */
  writtenAt: string;
  /** Of the run, or of the plan. */
  startedAt: string;
  /** Base address. */
  account: string;
  /** Names that a dry run would create. */
  created: { what: string; name: string }[];
  /** Columns of the file that say who is subscribed, and how each was read. */
  consentColumns: { name: string; reading?: "opt-in" | "opt-out" }[];
  /** The first ones. */
  changes: PlanLine[];
  rejects: Omit<Reject, "row">[];
  /** Without addresses and values. */
  isRedacted: boolean;
}

export function formatReport(report: Report): string {
  const { summary } = report;
  return formatPage(formatTitle(summary), formatStatus(summary), [
    formatAbout(report),
    formatOutcomes(summary),
    formatConsent(report),
    formatPrice(report),
    formatChanges(report),
    formatRejects(report),
  ]);
}

const kinds: Record<string, string> = {
  import: "Import",
  mutate: "Change of contacts",
  unsubscribe: "Unsubscription",
  delete: "Deletion",
  sync: "Sync of a list",
  duplicate: "Copy of a list",
  merge: "Merge of lists",
  undo: "Undo",
  apply: "Applied plan",
  move: "Move of a contact",
};

function formatTitle({ kind, file }: Summary): string {
  const name = kinds[kind] ?? kind;
  return file === "" ? name : `${name}: ${basename(file)}`;
}

function formatStatus({ status, stoppedBy }: Summary): Markup {
  if (status === "dry-run") return markup`<p class="status">Dry run: nothing was written</p>`;
  if (status === "completed") return markup`<p class="status">Completed</p>`;
  return markup`<p class="status warn">Stopped (${stoppedBy ?? "unknown"}): the rest was not attempted</p>`;
}

function formatAbout({ summary, account, startedAt, writtenAt, isRedacted }: Report): Markup {
  const rows: [string, string | null][] = [
    ["Account", account],
    ["Run", summary.run],
    [summary.run === null ? "Planned" : "Started", formatTime(startedAt)],
    ["Report", `${formatTime(writtenAt)}${isRedacted ? ", without addresses and values" : ""}`],
  ];
  return markup`<dl>${rows.flatMap(([name, value]) => (value ? [markup`<dt>${name}</dt><dd>${value}</dd>`] : []))}</dl>`;
}

/** `2026-11-22 14:02 UTC`: a reader may be elsewhere. */
function formatTime(text: string): string {
  return text === "" ? "" : `${text.slice(0, 16).replace("T", " ")} UTC`;
}

function formatOutcomes(summary: Summary): Markup {
  const outcomes = listOutcomes(summary, true);
  const total = outcomes.reduce((sum, { number }) => sum + number, 0);
  const rows = formatCounted(
    summary.rows.read,
    summary.kind === "import" || summary.kind === "sync" ? "row" : "contact",
  );
  if (total === 0) return markup`<h2>Result</h2><p>${rows}; nothing to do</p>`;
  return markup`<h2>Result: ${rows}</h2>
<div class="bar" role="img" aria-label="${outcomes.map(({ number, words }) => `${formatCount(number)} ${words}`).join(", ")}">${outcomes.map(
    ({ number, look, words }) =>
      markup`<span class="${look}" style="flex:${number}" title="${words}"></span>`,
  )}</div>
<table>
<thead><tr><th>Outcome</th><th class="number">Number</th><th class="number">Share</th><th>Reasons</th></tr></thead>
<tbody>${outcomes.map((outcome) => formatOutcome(outcome, total))}</tbody>
</table>`;
}

function formatOutcome({ number, words, look, reasons = {} }: ShownOutcome, total: number): Markup {
  const share = (number / total) * 100;
  const shown = share > 0 && share < 0.1 ? "under 0.1" : share.toFixed(1).replace(/\.0$/, "");
  return markup`<tr><td><span class="key ${look}"></span>${words}</td><td class="number">${formatCount(number)}</td><td class="number">${shown} %</td><td>${formatReasons(reasons)}</td></tr>`;
}

/** How a consent column was read. */
const readings = {
  "opt-in": "a yes means subscribed",
  "opt-out": "a yes means not subscribed",
  words: "read as consent",
};

function formatConsent({ summary: { consent, kind }, consentColumns }: Report): Markup | undefined {
  const rows: [number, string][] = [
    [consent.not_subscribed, "not created: the file says not subscribed"],
    [consent.suppressed, "not created: on the suppression list"],
    [consent.inactive, "inactive in the account: they get no mail, and the run does not change that"],
    [consent.marked, "active in the account although the file says not subscribed"],
  ];
  const told = rows.filter(([number]) => number > 0);
  const isEnd = kind === "unsubscribe" || kind === "delete";
  if ((told.length === 0 && consentColumns.length === 0) || isEnd) return undefined;
  const columns = consentColumns.map(
    ({ name, reading }) =>
      markup`<p>Column <bdi>${JSON.stringify(name)}</bdi>: ${readings[reading ?? "words"]}</p>`,
  );
  if (told.length === 0) return markup`<h2>Consent</h2>${columns}<p>Everybody is subscribed</p>`;
  return markup`<h2>Consent</h2>${columns}
<table><tbody>${told.map(
    ([number, words]) => markup`<tr><td class="number">${formatCount(number)}</td><td>${words}</td></tr>`,
  )}</tbody></table>`;
}

function formatPrice({ summary, created }: Report): Markup {
  const { requests, estimate, status } = summary;
  const text =
    status === "dry-run"
      ? `A real run would send ${formatCounted(estimate.requests, "request")} (${formatAboutDuration(estimate.seconds)})`
      : `${formatCounted(requests.total, "request")} sent`;
  const first = created.length === 0 ? undefined : markup`<p>Created first: ${listCreated(created)}</p>`;
  return markup`<h2>Price</h2><p>${text}</p>${first}`;
}

function formatChanges({ changes, summary }: Report): Markup | undefined {
  if (changes.length === 0) return undefined;
  const { created, updated, deleted } = summary.rows;
  const all = Math.max(created + updated + deleted, changes.length);
  const more = all - changes.length;
  const rest = more > 0 ? markup`<p class="quiet">… and ${formatCount(more)} more</p>` : undefined;
  const heading = summary.status === "dry-run" ? "What would change" : "What was changed";
  return markup`<h2>${heading}: ${formatCounted(all, "contact")}</h2>
${foldRows(markup`<tr><th>Contact</th><th>What</th><th>Change</th></tr>`, changes.map(formatLine))}${rest}`;
}

const actions: Partial<Record<PlanLine["action"], string>> = {
  create: "+ create",
  update: "~ update",
  delete: "− delete",
};

function formatLine({ key, action, changes, message }: PlanLine): Markup {
  const items = changes.map((change) => markup`<li>${formatChange(change, action)}</li>`);
  if (message) items.push(markup`<li class="quiet">${message}</li>`);
  return markup`<tr><td><bdi>${key}</bdi></td><td class="what">${actions[action] ?? action}</td><td>${foldList(items)}</td></tr>\n`;
}

function formatChange({ what, name, before, after }: PlanChange, action: PlanLine["action"]): Markup {
  if (typeof after === "boolean") return markup`${after ? "+" : "−"} ${what} <bdi>${name}</bdi>`;
  const label = markup`${what === "status" ? "Status" : name}: `;
  const value = markup`<ins><bdi>${after === "" ? "(empty)" : after}</bdi></ins>`;
  if (action === "create" || before === null) return markup`${label}${value}`;
  return markup`${label}<del><bdi>${before === "" ? "(empty)" : String(before)}</bdi></del> → ${value}`;
}

function formatRejects({ rejects, summary, isRedacted }: Report): Markup | undefined {
  if (rejects.length === 0) return undefined;
  const more = summary.rows.rejected - rejects.length;
  const rest = more > 0 ? markup`<p class="quiet">… and ${formatCount(more)} more</p>` : undefined;
  return markup`<h2>Rejected</h2>
${foldRows(
  markup`<tr><th class="number">Line</th>${isRedacted ? undefined : markup`<th>Value</th>`}<th>Reason</th></tr>`,
  rejects.map((reject) => formatReject(reject, isRedacted)),
)}${rest}`;
}

function formatReject(reject: Omit<Reject, "row">, isRedacted: boolean): Markup {
  const { line, value, code, why } = toShownReject(reject);
  const reason = why || formatReasons({ [code]: 1 }).replace(/ \(1\)$/, "");
  const cell = isRedacted ? undefined : markup`<td><bdi>${value}</bdi></td>`;
  return markup`<tr><td class="number">${line === 0 ? "" : formatCount(line)}</td>${cell}<td>${reason}</td></tr>`;
}

// A plan without the people in it.

/** Lines of the input take the place of addresses; contacts that are on none are numbered after them. */
export function createPlanRedactor(): (line: PlanLine) => PlanLine {
  let last = 0;
  const toNumber = (line: number | null) => {
    const number = line ?? last + 1;
    last = Math.max(last, number);
    return `#${number}`;
  };
  return ({ line, action, code, changes }) => ({
    line,
    key: toNumber(line),
    contactId: null,
    action,
    code,
    message: null,
    changes: changes.map(({ what, name, before, after }) => ({
      what,
      name: hideAddresses(name),
      before: redactText(before),
      after: redactText(after),
    })),
  });
}

/** Lists, tags and what a service says may be named after people. */
function hideAddresses(text: string): string {
  return text.replace(/[^\s<>"'`,;:()[\]{}|]+@[^\s<>"'`,;:()[\]{}|]+/gu, "…");
}

/** That a value is emptied, or was empty, is told; no value is. */
function redactText<T>(value: T): T | string {
  return typeof value === "string" && value !== "" ? "…" : value;
}
