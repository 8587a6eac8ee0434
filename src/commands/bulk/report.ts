/** `--report FILE.html`: a page about a run, or about what it would do, for somebody else to read. */

import { basename } from "node:path";
import {
  type ClosedPlan,
  findRun,
  type Manifest,
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
import type { ReportFlags } from "../flags/bulk.ts";
import { foldList, foldRows, formatPage, type Markup, markup } from "../output/page.ts";
import { formatChanges, maxChangesShown, maxRejectsShown, type SeenPlan } from "./plan.ts";
import { hasRows, listOutcomes } from "./result.ts";
import {
  describeCode,
  formatAboutDuration,
  formatReasons,
  listCreated,
  toShownReject,
  withReason,
} from "./words.ts";

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

type Details = Omit<Report, "summary" | "writtenAt" | "isRedacted">;

/** The page of a run that was just done, or of a dry run. @param plan of a dry run */
export async function reportRun(
  context: Context,
  flags: ReportFlags,
  summary: Summary,
  plan: SeenPlan | undefined,
): Promise<void> {
  const { run } = summary;
  if (run !== null) {
    const read = async () => readDetails(await findRun(context.folders.state, run));
    return writeReport(context, flags, summary, read);
  }
  // What was refused before its input was read has nothing to tell.
  if (summary.rows.read > 0) await writeReport(context, flags, summary, async () => toDetails(plan));
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
  await writeReport(context, flags, summary, () => readDetails(run));
}

/** The run is over: what fails here is said, and takes nothing else with it. */
async function writeReport(
  context: Context,
  { report: file = "", redact: isRedacted = false }: ReportFlags,
  summary: Summary,
  read: () => Promise<Details>,
): Promise<void> {
  const { terminal, clock } = context;
  const writtenAt = new Date(clock.now()).toISOString();
  try {
    const report = { ...(await read()), summary, writtenAt, isRedacted };
    const page = formatReport(isRedacted ? redactReport(report) : report);
    await fillSink(await openFileOutput(file, { flag: "--report" }), (sink) => sink.write(page));
    terminal.note(`Report: ${file}`);
  } catch (error) {
    terminal.warn(`No report: ${(error as Error).message}`);
    context.endWith(exitCodes.failed);
  }
}

/** Of a dry run, from its plan. */
function toDetails(plan: SeenPlan | undefined): Details {
  const { head, creations = [], changes = [], rejects = [] } = plan ?? {};
  return {
    account: head?.account.baseUrl ?? "",
    startedAt: head?.createdAt ?? "",
    created: [...creations],
    consentColumns: listConsentColumns(head),
    changes,
    rejects: rejects.map(({ line, key, code, message }) => ({
      ...{ line: line ?? 0, value: key, code: code ?? "", message: message ?? "" },
    })),
  };
}

/** From the plan and the journal of a run. */
async function readDetails(run: { manifest: Manifest; folder: string }): Promise<Details> {
  const readings = readingsOf(run);
  const rejects: Details["rejects"] = [];
  for await (const reject of readings.rejects()) {
    if (rejects.push(reject) === maxRejectsShown) break;
  }
  const { account, startedAt } = run.manifest;
  return {
    account: account.baseUrl,
    startedAt,
    created: [],
    consentColumns: listConsentColumns(await readings.head()),
    changes: (await readings.changes(maxChangesShown)).map(withReason),
    rejects,
  };
}

function listConsentColumns(head: ClosedPlan["head"] | undefined): Report["consentColumns"] {
  return (head?.table?.columns ?? []).flatMap(({ name, target }) =>
    target.kind === "consent" ? [{ name, ...(target.reading && { reading: target.reading }) }] : [],
  );
}

// A report as one page that needs nothing else: no script, no request. Pure.

export function formatReport(report: Report): string {
  const { summary } = report;
  const { kind, file, status, stoppedBy } = summary;
  const name = kinds[kind] ?? kind;
  const title = file === "" ? name : `${name}: ${basename(file)}`;
  const state =
    status === "dry-run"
      ? markup`<p class="status">Dry run: nothing was written</p>`
      : status === "completed"
        ? markup`<p class="status">Completed</p>`
        : markup`<p class="status warn">Stopped (${stoppedBy ?? "unknown"}): the rest was not attempted</p>`;
  return formatPage(title, state, [
    formatAbout(report),
    formatOutcomes(summary),
    formatConsent(report),
    formatPrice(report),
    formatContacts(report),
    formatRejects(report),
  ]);
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

function formatAbout({ summary, account, startedAt, writtenAt, isRedacted }: Report): Markup {
  // A reader may be elsewhere.
  const formatTime = (text: string) => (text === "" ? "" : `${text.slice(0, 16).replace("T", " ")} UTC`);
  const rows: [string, string | null][] = [
    ["Account", account],
    ["Run", summary.run],
    [summary.run === null ? "Planned" : "Started", formatTime(startedAt)],
    ["Report", `${formatTime(writtenAt)}${isRedacted ? ", without addresses and values" : ""}`],
  ];
  return markup`<dl>${rows.flatMap(([name, value]) => (value ? [markup`<dt>${name}</dt><dd>${value}</dd>`] : []))}</dl>`;
}

function formatOutcomes(summary: Summary): Markup {
  const outcomes = listOutcomes(summary);
  const rows = formatCounted(summary.rows.read, hasRows(summary) ? "row" : "contact");
  if (outcomes.length === 0) return markup`<h2>Result</h2><p>${rows}; nothing to do</p>`;
  const lines = outcomes.map(
    ({ number, words, reasons = {} }) =>
      markup`<tr><td>${words}</td><td class="number">${formatCount(number)}</td><td>${formatReasons(reasons)}</td></tr>`,
  );
  return markup`<h2>Result: ${rows}</h2>
<table>
<thead><tr><th>Outcome</th><th class="number">Number</th><th>Reasons</th></tr></thead>
<tbody>${lines}</tbody>
</table>`;
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
  const counted = rows.filter(([number]) => number > 0);
  const isEnd = kind === "unsubscribe" || kind === "delete";
  if ((counted.length === 0 && consentColumns.length === 0) || isEnd) return undefined;
  const columns = consentColumns.map(
    ({ name, reading }) =>
      markup`<p>Column <bdi>${JSON.stringify(name)}</bdi>: ${readings[reading ?? "words"]}</p>`,
  );
  if (counted.length === 0) return markup`<h2>Consent</h2>${columns}<p>Everybody is subscribed</p>`;
  return markup`<h2>Consent</h2>${columns}
<table><tbody>${counted.map(
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

function formatContacts({ changes, summary }: Report): Markup | undefined {
  if (changes.length === 0) return undefined;
  const { created, updated, deleted } = summary.rows;
  const all = Math.max(created + updated + deleted, changes.length);
  const heading = summary.status === "dry-run" ? "What would change" : "What was changed";
  const rows = changes.map((line) => {
    const items = formatChanges(line).map((change) => markup`<li><bdi>${change}</bdi></li>`);
    if (line.message) items.push(markup`<li class="quiet">${line.message}</li>`);
    return markup`<tr><td><bdi>${line.key}</bdi></td><td class="what">${line.action}</td><td>${foldList(items)}</td></tr>\n`;
  });
  return markup`<h2>${heading}: ${formatCounted(all, "contact")}</h2>
${foldRows(markup`<tr><th>Contact</th><th>What</th><th>Change</th></tr>`, rows)}${formatMore(all - changes.length)}`;
}

function formatMore(more: number): Markup | undefined {
  return more > 0 ? markup`<p class="quiet">… and ${formatCount(more)} more</p>` : undefined;
}

function formatRejects({ rejects, summary, isRedacted }: Report): Markup | undefined {
  if (rejects.length === 0) return undefined;
  const head = markup`<tr><th class="number">Line</th>${isRedacted ? undefined : markup`<th>Value</th>`}<th>Reason</th></tr>`;
  const rows = rejects.map(toShownReject).map(({ line, value, code, why }) => {
    const cell = isRedacted ? undefined : markup`<td><bdi>${value}</bdi></td>`;
    return markup`<tr><td class="number">${line === 0 ? "" : formatCount(line)}</td>${cell}<td>${why || describeCode(code)}</td></tr>`;
  });
  return markup`<h2>Rejected</h2>
${foldRows(head, rows)}${formatMore(summary.rows.rejected - rejects.length)}`;
}

// Without the people in it.

/** Nobody can be recognised by it: what a rejected row holds is left out whole. */
function redactReport(report: Report): Report {
  const hideAll = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (_, part: unknown) =>
      typeof part === "string" ? hideAddresses(part) : part,
    ) as T;
  return {
    ...report,
    summary: { ...hideAll(report.summary), file: "" },
    created: hideAll(report.created),
    changes: report.changes.map(createPlanRedactor()),
    rejects: report.rejects.map((reject) => ({ ...reject, value: "", message: "" })),
  };
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

/** Lists, tags and what a service says may be named after people. */
function hideAddresses(text: string): string {
  return text.replace(/[^\s<>"'`,;:()[\]{}|]+@[^\s<>"'`,;:()[\]{}|]+/gu, "…");
}

/** That a value is emptied, or was empty, is told; no value is. */
function redactText<T>(value: T): T | string {
  return typeof value === "string" && value !== "" ? "…" : value;
}
