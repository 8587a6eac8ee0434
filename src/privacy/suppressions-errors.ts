/** Why a suppression list cannot be read or written. */
import { diskFullHint } from "../disk/disk-room.ts";
import { EcmError, exitCodes } from "../errors.ts";
import { advise, ecm, type Hint } from "../hint.ts";
import type { DamagedList } from "./suppressions-file.ts";

/** The list cannot be read or written: nobody may be created until it can. */
export class SuppressionsError extends EcmError {
  constructor(message: string, hint: Hint, cause?: unknown) {
    super(exitCodes.failed, message, { type: "SuppressionsError", hint, cause });
  }
}

const withoutListNote = "Nobody is created until the list can be read";
const restoreHint = advise`Restore the file from a backup. If there is none, move it away and add everybody again: ${ecm`suppressions add --keys FILE`}`;

export function missingError(file: string): SuppressionsError {
  return new SuppressionsError(
    `The suppression list ${file} does not exist`,
    advise`Check ECM_SUPPRESSIONS and the file it names; where there never was one, make it with: ${ecm`suppressions add KEY`}. ${withoutListNote}`,
  );
}

export function damagedError(file: string, { line, message }: DamagedList): SuppressionsError {
  return new SuppressionsError(
    `Cannot trust the suppression list ${file}:${line}: ${message}`,
    advise`${restoreHint}. ${withoutListNote}`,
  );
}

export function unreadableError(file: string, error: unknown): SuppressionsError {
  return new SuppressionsError(
    `Cannot read the suppression list ${file}: ${(error as Error).message}`,
    `Make it readable, or restore it from a backup. ${withoutListNote}`,
    error,
  );
}

export function unwritableError(file: string, error: unknown): SuppressionsError {
  return new SuppressionsError(
    `Cannot write the suppression list ${file}: ${(error as Error).message}`,
    diskFullHint(error, file) ?? "Make the file and its folder writable, then run the same command again",
    error,
  );
}
