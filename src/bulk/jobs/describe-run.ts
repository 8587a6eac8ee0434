/** What a run's manifest says of it, and what makes two invocations one run. */
import { describeReading, type InputFile } from "../../tables/index.ts";
import { computeFingerprint, type Manifest } from "../runs/folder.ts";
import type { RunDescription } from "./enter-job.ts";
import type { RowRun } from "./prepare.ts";

/** The manifest but for the run's id and start. @param input as it was taken */
export function describeRun(
  rowRun: RowRun,
  input: { file: InputFile; isSpooled: boolean },
  resumes: Manifest | undefined,
): RunDescription {
  const { subject, engine, job, structure, understood } = rowRun;
  const { facts } = understood;
  return {
    account: {
      baseUrl: engine.account.baseUrl,
      profile: engine.account.profile,
      structureId: structure._id,
    },
    input: {
      name: subject,
      file: input.file.path,
      isSpooled: input.isSpooled || resumes?.input.isSpooled === true,
      sha256: facts.sha256,
      bytes: facts.bytes,
    },
    fingerprint: computeRunFingerprint(rowRun),
    options: job.options,
    after: job.after,
  };
}

/**
 * Of what makes two invocations one run: account, input, how it is read, and what
 * decides a contact's outcome. Another one once the fields exist that the run creates:
 * then it is that of the command that names them.
 */
export function computeRunFingerprint(rowRun: RowRun): string {
  const { kind, engine, job, structure, understood, names } = rowRun;
  const { facts, reading } = understood;
  return computeFingerprint({
    kind,
    baseUrl: engine.account.baseUrl,
    structureId: structure._id,
    sha256: facts.sha256,
    columns: facts.columns.map(({ name, target }) => ({
      name,
      target: target.kind === "field" ? { ...target, fieldId: names.fieldId(target.fieldId) } : target,
    })),
    // What the entries of a mapping compute is in the options.
    reading: job.isWithoutInput ? {} : describeReading(reading),
    options: job.options,
    after: job.after,
  });
}
