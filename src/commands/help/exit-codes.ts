/**
 * What each exit code means: the one table behind every help text,
 * page and index. The codes themselves: errors.ts.
 */
import { exitCodes } from "../../errors.ts";

/** In order; scripts rely on every line. */
export const exitCodeMeanings: readonly [code: number, meaning: string][] = [
  [exitCodes.done, "done"],
  [exitCodes.failed, "any other refusal or failure; you declined; an internal error"],
  [exitCodes.usage, "usage: a bad flag, argument, file or configuration; nothing was sent"],
  [exitCodes.rejectedRows, "a bulk run finished, and some rows were rejected"],
  [exitCodes.notAuthorized, "no API key, or the service rejected it"],
  [exitCodes.notFound, "not found, or no such name"],
  [
    exitCodes.conflict,
    "conflict: it exists already, was changed meanwhile, is suppressed, or another process uses the run or file",
  ],
  [
    exitCodes.outOfBudget,
    "out of budget: the hourly limit, the monthly quota, or a limit you set; a bulk run can be resumed",
  ],
  [exitCodes.unreachable, "the service could not be reached, or did not answer in time"],
  [exitCodes.differs, "`structure diff --exit-code`: something differs"],
  [exitCodes.interrupted, "interrupted by SIGINT; a bulk run can be resumed"],
  [exitCodes.terminated, "interrupted by SIGTERM; a bulk run can be resumed"],
];

/** The meaning of one code. */
export function findExitCodeMeaning(code: number): string {
  return exitCodeMeanings.find(([each]) => each === code)![1];
}
