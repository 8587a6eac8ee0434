/** The plan of a run over rows, while its contacts are decided. */
import { standInName } from "../account/names.ts";
import type { RejectedRow, Row } from "../input/rows.ts";
import { type KeptNames, namesFrom } from "../runs/names-file.ts";
import { type PlanNames, type PlanSink, planLineOf, planLineOfRow } from "./plan.ts";
import { createPlanRecorder } from "./plan-recorder.ts";
import type { PassedRows, RowRun } from "./row-run.ts";
import type { Session, SessionPlan } from "./session.ts";

export interface Planning {
  /** For the reading of rows: undefined unless the plan is being recorded. */
  passed(): PassedRows | undefined;
  /** Records what is decided in the session that `decide` is given: the rows must be read once. */
  during<T>(session: Session, decide: (planned: Session) => Promise<T>): Promise<T>;
}

export function planningOf(rowRun: RowRun, sink: PlanSink): Planning {
  const { account, structure, job, survey } = rowRun;
  const recorder = createPlanRecorder(sink);
  let isRecording = false;
  const outcome = job.duplicates === "reject" ? "reject" : "skip";
  const rows: PassedRows = {
    rejected: (row) =>
      recorder.pass(planLineOfRow(row.line, keyCellOf(rowRun, row), "reject", row.code, row.message)),
    duplicate: (row, other) =>
      recorder.pass(
        planLineOfRow(row.line, row.key.sent, outcome, "duplicate", `the contact is on line ${other} too`),
      ),
  };
  return {
    passed: () => (isRecording ? rows : undefined),
    async during(session, decide) {
      const known = await account.known(structure);
      const names = planNames(namesFrom(known.structure, known.lists));
      const lineOf: SessionPlan["lineOf"] = (item, decision, found) => {
        const line = job.isWithoutInput || item.ref > survey.lastLine ? null : item.ref;
        return planLineOf({ line, key: item.key.sent, found: found.contact }, decision, names);
      };
      isRecording = true;
      try {
        const result = await decide({ ...session, plan: { recorder, lineOf } });
        await recorder.end();
        return result;
      } finally {
        isRecording = false;
      }
    },
  };
}

/** Names of what the account has and of what is yet to be made. */
export function planNames({ fields, lists, tags }: KeptNames): PlanNames {
  return {
    field: (id) => fields[id] ?? standInName(id) ?? id,
    list: (id) => lists[id] ?? standInName(id) ?? id,
    tag: (id) => tags[id] ?? standInName(id) ?? id,
  };
}

/** The cell that should have been a key, as it is written. */
function keyCellOf({ understood }: RowRun, { cells }: RejectedRow | Row): string {
  const place = understood.reading.targets.findIndex(({ kind }) => kind === "key");
  return cells[place] ?? "";
}
