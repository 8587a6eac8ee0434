/** `--report FILE.html`: a page about a run, or about what it would do, for somebody else to read. */
import {
  type Closed,
  type ClosedPlan,
  findRun,
  type Manifest,
  type PlanLine,
  readingsOf,
  type Summary,
} from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { exitCodes, usageError } from "../../../errors.ts";
import { advise, ecm } from "../../../hint.ts";
import { fillSink, openFileOutput } from "../../../terminal/output-file.ts";
import { isChange } from "../difference.ts";
import { createPlanRedactor, hideAddresses } from "../redact.ts";
import { type ReportFlags, requireReportFlags } from "./report-flags.ts";
import { formatReport, type Report } from "./report-page.ts";

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
