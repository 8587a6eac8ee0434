/** What runs of this machine did to a person, for a request of access. Nothing is written. */
import { toPersonIdentity } from "../api/key-spelling.ts";
import { listRuns, type PlanLine, readingsOf, type StoredRun } from "../bulk/index.ts";
import { type EcmError, isKind } from "../errors.ts";
import { listFilesOfRun } from "./erase.ts";

/** What a run did to the person. */
export interface RunRecords {
  run: string;
  kind: string;
  /** RFC 3339, UTC. */
  startedAt: string;
  /** The input as the command named it. */
  input: string;
  /** What was written, with the values before and after; null where the journal is damaged. */
  changes: PlanLine[] | null;
  /** What was skipped, rejected, or not written yet. */
  notWritten: PlanLine[];
  /** Files that it read or wrote, and that are still there. */
  files: string[];
}

/**
 * The runs of an account that name a person, the one that began first first, and the contacts that they name.
 * @param keys of the person, in any spelling
 */
export async function readRunsOf(
  stateFolder: string,
  account: string,
  keys: readonly string[],
  onUnreadable: (error: EcmError) => void = () => undefined,
): Promise<{ runs: RunRecords[]; known: { _id: string; key: string }[] }> {
  const identities = new Set(keys.map(toPersonIdentity));
  const isTheirs = ({ key }: { key: string }) => identities.has(toPersonIdentity(key));
  const runs: RunRecords[] = [];
  const known: { _id: string; key: string }[] = [];
  for (const run of (await listRuns(stateFolder, onUnreadable)).reverse()) {
    if (run.manifest.account.baseUrl !== account) continue;
    const planned = await readPlanned(run, isTheirs);
    const changes = (await readChanges(run))?.filter(isTheirs) ?? null;
    const lines = [...planned, ...(changes ?? [])];
    if (lines.length === 0) continue;
    known.push(
      ...lines.flatMap(({ contactId, key }) => (contactId === null ? [] : [{ _id: contactId, key }])),
    );
    const { id, kind, startedAt, input } = run.manifest;
    const written = new Set(changes?.map(({ action }) => action));
    const notWritten = planned.filter(({ action }) => !written.has(action));
    const files = await listFilesOfRun(run.manifest);
    runs.push({ run: id, kind, startedAt, input: input.name, changes, notWritten, files });
  }
  return { runs, known };
}

async function readPlanned(run: StoredRun, isTheirs: (line: PlanLine) => boolean): Promise<PlanLine[]> {
  const planned: PlanLine[] = [];
  for await (const line of readingsOf(run).lines()) if (isTheirs(line)) planned.push(line);
  return planned;
}

/** Undefined where the run's journal is damaged. */
async function readChanges(run: StoredRun): Promise<PlanLine[] | undefined> {
  try {
    return await readingsOf(run).changes();
  } catch (error) {
    if (!isKind(error, "damaged journal")) throw error;
    return undefined;
  }
}
