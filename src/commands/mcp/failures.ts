/** Failures as a client reads them: in its own words. */
import { EcmError, exitCodes } from "../../errors.ts";
import type { ShownCommand } from "../../hint.ts";
import { toErrorObject } from "../../terminal/report-error.ts";
import { shellOnly, ToolFailure } from "./invoke.ts";
import type { Tool } from "./tool.ts";

/** What the system or a defect says may name files of this machine: it is not the client's business. */
const ownTypes: readonly unknown[] = ["InternalError", "SystemError"];

/** @param note is told what the client is not: for the person who runs the server */
export function toFailure(error: unknown, note: (text: string) => void): object {
  if (error instanceof ToolFailure) return withoutDetails(error.failure, note);
  if (error instanceof EcmError) return { error: toErrorObject(error) };
  const message = error instanceof Error ? error.message : String(error);
  return withoutDetails({ error: { type: "InternalError", message, exitCode: exitCodes.failed } }, note);
}

function withoutDetails(failure: object, note: (text: string) => void): object {
  const { error } = failure as { error?: Record<string, unknown> };
  if (!error || !ownTypes.includes(error.type)) return failure;
  note(String(error.message));
  const { type, exitCode, applied } = error;
  const message = "The server failed; its standard error says why";
  return { ...failure, error: { type, message, exitCode, retryable: false, applied } };
}

/** A flag whose value is a pair, such as `--map City=Town`; the pair may be in quotes. */
const pairFlag = /(--[a-z][a-z-]*) ('[^'=]+=[^']*'|[^\s=,;']+=[^\s,;']+)/g;
/** No tool puts a column aside. */
const asideAdvice =
  /[,;]? (?:or|or ignore it with|ignore the column with) --map (?:'[^']*=ignore'|\S+=ignore)(?=[,;]|$)/g;

/** No tool waits for the hour. */
const waitAdvice = /, or let the command wait with --max-wait \d+/;

/**
 * A command that leads on, as the client can carry it out: by a tool where there is one for it and its flags.
 * @param words without `ecm`
 */
export function nameTool(tools: readonly Tool[], { words }: ShownCommand): string {
  const tool = tools.find(({ path }) => path?.every((word, at) => words[at] === word));
  const rest = words.slice(tool?.path?.length ?? 0);
  const isOffered = rest.every((word) => !word.startsWith("--") || tool?.names?.has(word));
  if (!tool || !isOffered) return shellOnly;
  return [tool.name, ...rest.map((word) => tool.names?.get(word) ?? word)].join(" ");
}

/** Commands speak of flags; where a tool has an argument for one, that is named. */
export function nameArguments(
  failure: object,
  { names, inputSchema }: Pick<Tool, "names" | "inputSchema">,
): object {
  const { error } = failure as { error?: Record<string, unknown> };
  if (!error) return failure;
  const isObject = (name: string) => (inputSchema.properties[name] as { type?: string })?.type === "object";
  const rename = (text: unknown) => {
    if (typeof text !== "string") return text;
    return text
      .replace(asideAdvice, "")
      .replace(waitAdvice, "")
      .replace(pairFlag, (typed, flag: string, pair: string) => {
        const argument = names?.get(flag);
        if (argument === undefined || !isObject(argument)) return typed;
        const [name = "", value = ""] = pair.replace(/^'|'$/g, "").split(/=(?!.*=)/);
        return `${argument} ${JSON.stringify({ [name]: value })}`;
      })
      .replace(/--[a-z][a-z-]*/g, (flag) => names?.get(flag) ?? flag);
  };
  const { message, hint, ...rest } = error;
  const advice = keepClauses(rename(hint));
  const renamed = { ...rest, message: dropDashes(rename(message)), ...(advice !== "" && { hint: advice }) };
  return { ...failure, error: renamed };
}

/** Without what a client cannot do: a flag that is no argument, a command that no tool runs. */
function keepClauses(hint: unknown): unknown {
  if (typeof hint !== "string") return "";
  const clauses = hint.split(/(?<=\n|; |\. )/);
  const kept = clauses.filter((clause) => !clause.includes(shellOnly) && !/--[a-z]/.test(clause));
  return kept.join("").replace(/[;\s]+$/, "");
}

function dropDashes(message: unknown): unknown {
  if (typeof message !== "string") return message;
  return message.replace(/--([a-z][a-z-]*)/g, (_flag, name: string) => name.replaceAll("-", "_"));
}
