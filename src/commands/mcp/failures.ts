/** Failures as a client reads them: in its own words. */
import { EcmError } from "../../errors.ts";
import { toErrorObject } from "../../terminal/report-error.ts";
import { type Tool, ToolFailure } from "./tool.ts";

export function toFailure(error: unknown): object {
  if (error instanceof ToolFailure) return error.failure;
  if (error instanceof EcmError) return { error: toErrorObject(error) };
  const message = `internal error: ${error instanceof Error ? error.message : String(error)}`;
  return { error: { type: "InternalError", message } };
}

/** Commands speak of flags; where a tool has an argument for one, that is named. */
export function nameArguments(failure: object, { names }: Pick<Tool, "names">): object {
  const { error } = failure as { error?: Record<string, unknown> };
  if (!error) return failure;
  const rename = (text: unknown) =>
    typeof text === "string" ? text.replace(/--[a-z][a-z-]*/g, (flag) => names?.get(flag) ?? flag) : text;
  // The shell is not the client's: a command that leads on there is none here.
  const { fix: _fix, message, hint, ...rest } = error;
  const renamed = { ...rest, message: rename(message), ...(hint !== undefined && { hint: rename(hint) }) };
  return { ...failure, error: renamed };
}
