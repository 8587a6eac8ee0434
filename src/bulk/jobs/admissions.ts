/** Which runs of this machine created a contact, and what their inputs said of the person's consent. */
import { join } from "node:path";
import { toPersonIdentity } from "../../api/key-spelling.ts";
import type { ConsentRead } from "../items.ts";
import { readPlanLines, type StoredLine } from "../plan/plan-file.ts";
import { fileNames } from "../runs/file-names.ts";
import { listRuns, type StoredRun } from "../runs/find-runs.ts";
import type { ManifestError } from "../runs/folder.ts";
import { readWrittenContacts } from "./written-contacts.ts";

export interface Admission {
  run: string;
  kind: string;
  /** When the run began: RFC 3339, UTC. */
  startedAt: string;
  baseUrl: string;
  /** As the command named it. */
  input: string;
  key: string;
  contactId: string | null;
  /**
   * Null where no row of an input stands behind it: of an undo, and of runs of earlier versions.
   */
  consent: ConsentRead | null;
}

/** Newest first. */
export async function findAdmissions(
  stateFolder: string,
  key: string,
  onUnreadable: (error: ManifestError) => void,
): Promise<Admission[]> {
  const runs = await listRuns(stateFolder, onUnreadable);
  const found: Admission[] = [];
  for (const run of runs) found.push(...(await admissionsIn(run, toPersonIdentity(key))));
  return found;
}

async function admissionsIn(run: StoredRun, identity: string): Promise<Admission[]> {
  const { folder, manifest } = run;
  const planned = new Map<number, StoredLine>();
  for await (const line of readPlanLines(join(folder, fileNames.plan))) {
    if (line.action !== "create" || !line.apply || line.apply.isErased) continue;
    if (toPersonIdentity(line.key) === identity) planned.set(line.apply.ref, line);
  }
  if (planned.size === 0) return [];
  const found: Admission[] = [];
  for await (const { ref, operation, createdId, isUnproven } of readWrittenContacts(folder, true)) {
    const line = planned.get(ref);
    if (!line || isUnproven || operation.kind !== "create") continue;
    found.push({
      run: manifest.id,
      kind: manifest.kind,
      startedAt: manifest.startedAt,
      baseUrl: manifest.account.baseUrl,
      input: manifest.input.name,
      key: line.key,
      contactId: createdId ?? null,
      consent: line.consent ?? null,
    });
  }
  return found;
}
