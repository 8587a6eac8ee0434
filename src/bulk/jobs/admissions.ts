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
   * Null where no row of an input stands behind it: of a move, of an undo, and of runs of earlier versions.
   */
  consent: ConsentRead | null;
  /** The key under which the person was known before. */
  movedFrom: string | null;
}

/** Newest first; of somebody who moved, those of the earlier keys follow. */
export async function findAdmissions(
  stateFolder: string,
  key: string,
  onUnreadable: (error: ManifestError) => void,
): Promise<Admission[]> {
  const runs = await listRuns(stateFolder, onUnreadable);
  const found: Admission[] = [];
  const asked = new Set<string>();
  let keys = [key];
  while (keys.length > 0) {
    const identities = new Set(keys.map(toPersonIdentity));
    for (const identity of identities) asked.add(identity);
    const next: Admission[] = [];
    for (const run of runs) next.push(...(await admissionsIn(run, identities)));
    found.push(...next);
    keys = next.flatMap(({ movedFrom }) =>
      movedFrom === null || asked.has(toPersonIdentity(movedFrom)) ? [] : [movedFrom],
    );
  }
  return found;
}

async function admissionsIn(run: StoredRun, identities: ReadonlySet<string>): Promise<Admission[]> {
  const { folder, manifest } = run;
  const planned = new Map<number, StoredLine>();
  for await (const line of readPlanLines(join(folder, fileNames.plan))) {
    if (line.action !== "create" || !line.apply || line.apply.isErased) continue;
    if (identities.has(toPersonIdentity(line.key))) planned.set(line.apply.ref, line);
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
      movedFrom: line.apply?.movesFrom?.key ?? null,
    });
  }
  return found;
}
