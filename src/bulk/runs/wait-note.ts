/**
 * Until when a run waits, noted in its folder for whoever looks at it meanwhile. It is an aside: where it
 * cannot be written, the run continues without it.
 */
import { rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isLeaseHeld } from "../../disk/lease.ts";
import type { Wait } from "../pace/gate.ts";
import { fileNames, type Manifest, toLocksFolder } from "./folder.ts";

/** A shorter wait, such as for a lost answer, is over before anybody looks. */
const minMilliseconds = 5_000;

/** @param wait undefined: it is over */
export function noteWait(folder: string, wait: Wait | undefined, now: number): void {
  const file = join(folder, fileNames.wait);
  try {
    if (wait && wait.until - now >= minMilliseconds)
      writeFileSync(file, `${JSON.stringify(wait)}\n`, { mode: 0o600 });
    else rmSync(file, { force: true });
  } catch {
    // The run's next record says what is wrong with its folder.
  }
}

/** Undefined also for a run that was killed while it waited. */
export async function readWait({ manifest, folder }: { manifest: Manifest; folder: string }) {
  const wait = await readNote(join(folder, fileNames.wait));
  const stateFolder = dirname(dirname(folder));
  return wait && (await isLeaseHeld(toLocksFolder(stateFolder), manifest.fingerprint)) ? wait : undefined;
}

async function readNote(file: string): Promise<Wait | undefined> {
  try {
    const { until, why } = JSON.parse(await readFile(file, "utf8")) as Partial<Wait>;
    if (typeof until === "number" && typeof why === "string") return { until, why };
  } catch {
    // There is none, or it is being written.
  }
  return undefined;
}
