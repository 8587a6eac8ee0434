/** Which run is meant, where the command does not say. */
import { basename } from "node:path";
import type { RunView, StoredRun } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { formatCount } from "../../../counts.ts";
import { advise, ecm } from "../../../hint.ts";
import type { Choice } from "../../../terminal/prompter.ts";
import { type MissingArgument, requireChoice, requireChoices } from "../../flags/questions.ts";

/**
 * @param verb of the command, for the error
 * @param fits which runs the command can do something with
 */
export function requireRun(
  context: Context,
  typedRun: string | undefined,
  verb: string,
  fits: (run: StoredRun) => boolean = () => true,
): Promise<string> {
  return requireChoice(context, typedRun, createMissingRun(verb), () => listRunChoices(context, fits));
}

export function requireRuns(context: Context, typedRuns: string[], verb: string): Promise<string[]> {
  return requireChoices(context, typedRuns, createMissingRun(verb), () =>
    listRunChoices(context, () => true),
  );
}

function createMissingRun(verb: string): MissingArgument {
  return { question: `Run to ${verb}`, what: "the run", usage: advise`${ecm`runs ${verb} RUN`}, or last` };
}

/**
 * The run that was named. Says which folders `last` passes over.
 * @throws NotFoundError, UsageError, or of a run that cannot be read
 */
export async function findNamedRun({ folders, terminal }: Context, idOrLast: string): Promise<StoredRun> {
  const { findRun } = await import("../../../bulk/index.ts");
  return findRun(folders.state, idOrLast, ({ message }) => terminal.warn(message));
}

async function listRunChoices(
  context: Context,
  fits: (run: StoredRun) => boolean,
): Promise<Choice<string>[]> {
  const { listRuns, viewRun } = await import("../../../bulk/index.ts");
  const choices: Choice<string>[] = [];
  const runs = await listRuns(context.folders.state, ({ message }) => context.terminal.warn(message));
  for (const each of runs) {
    if (!fits(each)) continue;
    const view = await viewRun(each);
    const { run, kind, file, status } = view;
    choices.push({
      name: [`${run}  ${kind} of ${basename(file)}, ${status}`, ...listOutcomes(view)].join(", "),
      short: run,
      value: run,
    });
  }
  return choices;
}

/** `29 created`, `5 rejected`; of a run that was never closed how far it came. */
function listOutcomes({ rows, done }: RunView): string[] {
  if (!rows) return [`${formatCount(done)} done`];
  const shown = ["created", "updated", "deleted", "rejected", "pending"] as const;
  return shown.flatMap((name) => (rows[name] > 0 ? [`${formatCount(rows[name])} ${name}`] : []));
}
