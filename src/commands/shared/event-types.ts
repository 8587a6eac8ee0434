/** What to say of a type of events that the service does not know. */
import { findClosest } from "../../api/names.ts";
import { EcmError, hasStatus } from "../../errors.ts";

/**
 * Which types exist is the service's to say, and its refusal names them: the one that was meant is found there.
 * @returns the error itself where it is about something else
 */
export function explainUnknownType(error: unknown, types: readonly string[]): unknown {
  if (!hasStatus(error, 400)) return error;
  const known: string[] = error.message.match(/\b[a-z]+(?:-[a-z]+)+\b/g) ?? [];
  const unknown = types.find((type) => !known.includes(type));
  if (known.length < 2 || unknown === undefined) return error;
  const meant = known.find((type) => type.split("-").includes(unknown)) ?? findClosest(unknown, known);
  return new EcmError(error.exitCode, `There is no event type ${JSON.stringify(unknown)}`, {
    ...error.details,
    hint: meant ? `Did you mean ${meant}?` : `Types: ${known.join(", ")}`,
  });
}
