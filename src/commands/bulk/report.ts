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
import { formatChanges, maxChangesReported, maxRejectsReported, type SeenPlan } from "./plan.ts";
import { hasRows, listOutcomes } from "./result.ts";
import { describeCode, formatCost, formatReasons, listCreated, shortenValue, withReason } from "./words.ts";

/** What the page tells besides the summary. */
export interface ReportDetails {
  /** Base address. */
  account: string;
  /** When the run began, or the plan was made: RFC 3339. */
  startedAt: string;
  /** Names that a dry run would create. */
  created: readonly { what: string; name: string }[];
  /** Columns of the file that say who is subscribed, and how each was read. */
  consentColumns: { name: string; reading?: "opt-in" | "opt-out" }[];
  /** The first ones. */
  changes: PlanLine[];
  rejects: Omit<Reject, "row">[];
}

/** The page of a run that was just done, or of a dry run. @param plan of a dry run */
export async function reportRun(
  context: Context,
  flags: ReportFlags,
  summary: Summary,
  plan: SeenPlan | undefined,
): Promise<void> {
  const { run, rows } = summary;
  // What was refused before its input was read has nothing to tell.
  if (run === null && rows.read === 0) return;
  const read = async () =>
    run === null ? toDetails(plan) : readDetails(await findRun(context.folders.state, run));
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
  await writeReport(context, flags, summary, () => readDetails(run));
}

/** The run is over: what fails here is said, and takes nothing else with it. */
async function writeReport(
  context: Context,
  { report: file = "", redact: isRedacted = false }: ReportFlags,
  summary: Summary,
  read: () => Promise<ReportDetails>,
): Promise<void> {
  const { terminal, clock } = context;
  try {
    const page = formatReport(summary, await read(), { at: new Date(clock.now()), isRedacted });
    await fillSink(await openFileOutput(file, { flag: "--report" }), (sink) => sink.write(page));
    terminal.note(`Report: ${file}`);
  } catch (error) {
    terminal.warn(`No report: ${(error as Error).message}`);
    context.endWith(exitCodes.failed);
  }
}

/** What the plan of a dry run tells. */
function toDetails(plan: SeenPlan | undefined): ReportDetails {
  const { head, creations = [], changes = [], rejects = [] } = plan ?? {};
  return {
    account: head?.account.baseUrl ?? "",
    startedAt: head?.createdAt ?? "",
    created: creations,
    consentColumns: listConsentColumns(head),
    changes,
    rejects: rejects.map(({ line, key, code, message }) => ({
      ...{ line: line ?? 0, value: key, code: code ?? "", message: message ?? "" },
    })),
  };
}

/** What the plan and the journal of a run tell. */
async function readDetails(run: { manifest: Manifest; folder: string }): Promise<ReportDetails> {
  const readings = readingsOf(run);
  const rejects: Reject[] = [];
  for await (const reject of readings.rejects()) {
    if (rejects.push(reject) === maxRejectsReported) break;
  }
  const { account, startedAt } = run.manifest;
  return {
    account: account.baseUrl,
    startedAt,
    created: [],
    consentColumns: listConsentColumns(await readings.head()),
    changes: (await readings.changes(maxChangesReported)).map(withReason),
    rejects,
  };
}

function listConsentColumns(head: ClosedPlan["head"] | undefined): ReportDetails["consentColumns"] {
  return (head?.table?.columns ?? []).flatMap(({ name, target }) =>
    target.kind === "consent" ? [{ name, reading: target.reading }] : [],
  );
}

// A report as one page that needs nothing else: no script, no request. Pure.

/** @param at when it is written */
export function formatReport(
  summary: Summary,
  details: ReportDetails,
  { at, isRedacted }: { at: Date; isRedacted: boolean },
): string {
  const { kind, status, stoppedBy } = summary;
  const shown = isRedacted ? redactDetails(details) : details;
  const file = isRedacted ? redactFile(summary) : basename(summary.file);
  const name = kinds[kind] ?? kind;
  const states = {
    "dry-run": "Dry run: nothing was written",
    completed: "Completed",
    stopped: `Stopped (${stoppedBy ?? "unknown"}): the rest was not attempted`,
  };
  const look = status === "stopped" ? "status warn" : "status";
  const written = `${formatTime(at.toISOString())}${isRedacted ? ", without addresses and values" : ""}`;
  return formatPage(
    file === "" ? name : `${name}: ${file}`,
    markup`<p class="${look}">${states[status]}</p>`,
    [
      formatAbout(summary, shown, written),
      formatOutcomes(summary),
      formatConsent(summary, shown),
      formatContacts(summary, shown),
      formatRejects(summary, shown, isRedacted),
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

/** A reader may be elsewhere. */
function formatTime(text: string): string {
  return text === "" ? "" : `${text.slice(0, 16).replace("T", " ")} UTC`;
}

function formatAbout(summary: Summary, details: ReportDetails, written: string): Markup {
  const { run, status, estimate, requests } = summary;
  const cost =
    status === "dry-run"
      ? `a real run would send ${formatCost(estimate.requests, estimate.seconds)}`
      : formatCounted(requests.total, "request");
  const rows: [string, string | null][] = [
    ["Account", details.account],
    ["Run", run],
    [run === null ? "Planned" : "Started", formatTime(details.startedAt)],
    ["Report", written],
    ["Price", cost],
    ["Created first", listCreated(details.created)],
  ];
  return markup`<dl>${rows.flatMap(([name, value]) => (value ? [markup`<dt>${name}</dt><dd>${value}</dd>`] : []))}</dl>`;
}

function formatOutcomes(summary: Summary): Markup {
  const outcomes = listOutcomes(summary);
  const rows = formatCounted(summary.rows.read, hasRows(summary) ? "row" : "contact");
  if (outcomes.length === 0) return markup`<h2>Result</h2><p>${rows}; nothing to do</p>`;
  const lines = outcomes.map(
    ({ number, words, reasons }) =>
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

function formatConsent({ consent, kind }: Summary, { consentColumns }: ReportDetails): Markup | undefined {
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
  const lines = counted.map(
    ([number, words]) => markup`<tr><td class="number">${formatCount(number)}</td><td>${words}</td></tr>`,
  );
  return markup`<h2>Consent</h2>${columns}\n<table><tbody>${lines}</tbody></table>`;
}

function formatContacts({ rows, status }: Summary, { changes }: ReportDetails): Markup | undefined {
  if (changes.length === 0) return undefined;
  const all = Math.max(rows.created + rows.updated + rows.deleted, changes.length);
  const heading = status === "dry-run" ? "What would change" : "What was changed";
  const lines = changes.map((line) => {
    const items = formatChanges(line).map((change) => markup`<li><bdi>${change}</bdi></li>`);
    if (line.message) items.push(markup`<li class="quiet">${line.message}</li>`);
    return markup`<tr><td><bdi>${line.key}</bdi></td><td class="what">${line.action}</td><td>${foldList(items)}</td></tr>\n`;
  });
  return markup`<h2>${heading}: ${formatCounted(all, "contact")}</h2>
${foldRows(markup`<tr><th>Contact</th><th>What</th><th>Change</th></tr>`, lines)}${formatMore(all - changes.length)}`;
}

function formatMore(more: number): Markup | undefined {
  return more > 0 ? markup`<p class="quiet">… and ${formatCount(more)} more</p>` : undefined;
}

function formatRejects(
  { rows }: Summary,
  { rejects }: ReportDetails,
  isRedacted: boolean,
): Markup | undefined {
  if (rejects.length === 0) return undefined;
  const head = markup`<tr><th class="number">Line</th>${isRedacted ? undefined : markup`<th>Value</th>`}<th>Reason</th></tr>`;
  const lines = rejects.map(({ line, value, code, message }) => {
    const cell = isRedacted ? undefined : markup`<td><bdi>${shortenValue(value)}</bdi></td>`;
    return markup`<tr><td class="number">${line === 0 ? "" : formatCount(line)}</td>${cell}<td>${message || describeCode(code)}</td></tr>`;
  });
  return markup`<h2>Rejected</h2>\n${foldRows(head, lines)}${formatMore(rows.rejected - rejects.length)}`;
}

// Without the people in it.

/** Nobody can be recognised by it: what a rejected row holds is left out whole. */
function redactDetails(details: ReportDetails): ReportDetails {
  return {
    ...details,
    created: details.created.map(({ what, name }) => ({ what, name: hideAddresses(name) })),
    consentColumns: details.consentColumns.map((each) => ({ ...each, name: hideAddresses(each.name) })),
    changes: details.changes.map(createPlanRedactor()),
    rejects: details.rejects.map((reject) => ({ ...reject, value: "", message: "" })),
  };
}

/** Conditions, which stand in the place of a file where contacts were chosen, may name people. */
function redactFile(summary: Summary): string {
  return hasRows(summary) ? hideAddresses(basename(summary.file)) : "";
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
