/**
 * An import's questions at a terminal, the command that needs none of
 * them, and what is done once they are answered.
 */
import type { Command } from "commander";
import {
  type ImportOptions,
  importJob,
  MissingNamesError,
  type RowJob,
  type Unclear,
  UnclearColumnsError,
} from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { DeclinedError } from "../../../errors.ts";
import { formatShellArguments, quoteShellWord } from "../../../shell-word.ts";
import type { Prompter } from "../../../terminal/prompter.ts";
import { shortPath } from "../../shared/bulk/format.ts";
import { isAtTerminal } from "../../shared/bulk/start.ts";
import { addAccountFlags, formatCommandLine } from "../../shared/command-line.ts";
import { askColumns, type ColumnAnswers } from "./columns.ts";

export interface Clarifier {
  /** As `RunOptions.clarify`: asks, and sends nothing. */
  clarify(failure: unknown): Promise<RowJob>;
  /** The person has said yes: what the answers write on this machine is written. @throws UsageError */
  agreed(): Promise<void>;
  /** The command that does the same without a question, where one was asked or the run was a dry one. */
  sayCommand(): Promise<void>;
  /** The command that imports the fixed rows as this one did. */
  sayRetry(rejects: string): void;
}

/** @param typed the command as it was typed */
export function createClarifier(
  context: Context,
  typed: { command: Command; file: string; map: readonly string[]; isDryRun: boolean },
  importOptions: ImportOptions,
): Clarifier {
  const { command, file, isDryRun } = typed;
  let options = importOptions;
  let saveTo: string | undefined;
  let isSaved = false;
  let isAgreed = false;

  async function clarify(failure: unknown): Promise<RowJob> {
    const prompter = context.prompter();
    if (!prompter) throw failure;
    if (failure instanceof UnclearColumnsError) {
      context.terminal.note(failure.message, "needed");
      const newFields = options.read.newFields ?? [];
      const { terminal } = context;
      const heldValues = (fieldId: string) => valuesInAccount(context, failure.unclear, fieldId);
      const screen = { terminal, prompter, heldValues };
      const answers = await askColumns(screen, file, failure.unclear, newFields);
      saveTo = answers.saveTo ?? saveTo;
      options = {
        ...options,
        read: mergeAnswers(options.read, answers, failure.unclear, saveTo !== undefined),
      };
    } else if (failure instanceof MissingNamesError && !context.settings.yes) {
      await askToCreate(context, prompter, failure);
      options = { ...options, createMissing: true };
    } else throw failure;
    return importJob(options);
  }

  async function save(): Promise<void> {
    if (saveTo === undefined || isSaved) return;
    const { writeMapping } = await import("../../../bulk/index.ts");
    const { map, entries, expect } = options.read;
    await writeMapping(saveTo, { map, entries: [...(entries ?? [])], expect });
    isSaved = true;
  }

  return {
    clarify,
    async agreed() {
      isAgreed = true;
      await save();
    },
    async sayCommand() {
      const hasAnswers = options !== importOptions;
      if (!hasAnswers && !(isDryRun && context.terminal.isStderrTerminal)) return;
      if (isDryRun) await save();
      const needed = isAgreed ? [] : (options.read.newFields ?? []);
      const steps = needed.map(({ label, dataType }) => {
        const type = dataType === "text" ? "" : ` --type ${quoteShellWord(dataType)}`;
        const step = `ecm structure field add${type} ${formatShellArguments(label)}`;
        return addAccountFlags(step, context.settings);
      });
      const flags = {
        fresh: undefined,
        ...(isDryRun && { dryRun: undefined, show: undefined, plan: undefined }),
        ...(hasAnswers &&
          formatAnsweredFlags(options, importOptions, typed.map, isSaved ? saveTo : undefined)),
      };
      const line = [...steps, formatCommandLine(command, [file], flags)].join(" && ");
      context.terminal.note(`${isDryRun ? "Run it with" : "Next time"}: ${line}`);
    },
    sayRetry(rejects) {
      if (!isAtTerminal(context)) return;
      const flags = {
        fresh: undefined,
        rejects: undefined,
        plan: undefined,
        ...ownOfSource,
        ...(options !== importOptions &&
          formatAnsweredFlags(options, importOptions, typed.map, isSaved ? saveTo : undefined)),
      };
      context.terminal.note(`The same as: ${formatCommandLine(command, [shortPath(rejects)], flags)}`);
    },
  };
}

function mergeAnswers(
  read: ImportOptions["read"],
  answers: ColumnAnswers,
  unclear: Unclear,
  isSaved: boolean,
): ImportOptions["read"] {
  const { map, consentColumns } = mergeConsent(read, answers, unclear, isSaved);
  const entries = [...(read.entries ?? []), ...answers.entries];
  const newFields = [...(read.newFields ?? []), ...answers.newFields];
  return {
    ...read,
    map,
    ...(entries.length > 0 && { entries }),
    consentColumns: consentColumns.length > 0 ? consentColumns : undefined,
    newFields: newFields.length > 0 ? newFields : undefined,
  };
}

/**
 * Columns of consent are told by their flag, as a person would; in a mapping file they are targets. What
 * fills a field besides, and what is no consent, is told by the flag in any case.
 */
function mergeConsent(
  read: ImportOptions["read"],
  answers: ColumnAnswers,
  unclear: Unclear,
  isSaved: boolean,
): { map: Map<string, string>; consentColumns: string[] } {
  const map = new Map([...read.map, ...answers.map]);
  const isAnswered = (text: string) => answers.readings.has(text) || answers.map.has(text);
  const consentColumns = (read.consentColumns ?? []).filter((text) => !isAnswered(text));
  for (const [column, target] of isSaved ? [] : answers.map) {
    const consentColumn = toConsentColumn(column, target);
    if (consentColumn === undefined) continue;
    map.delete(column);
    consentColumns.push(consentColumn);
  }
  const fields = unclear.unclearConsent.flatMap(({ name, fillsField }) => (fillsField ? [name] : []));
  for (const [column, reading] of answers.readings) {
    if (isSaved && reading !== "none" && !fields.includes(column)) map.set(column, `consent:${reading}`);
    else consentColumns.push(`${column}=${reading}`);
  }
  return { map, consentColumns };
}

/** What `--consent-column` says for a column with this target; undefined where the target is not consent. */
function toConsentColumn(column: string, target: string): string | undefined {
  const [isConsent, reading] = /^consent(?::(.*))?$/.exec(target) ?? [];
  if (isConsent === undefined) return undefined;
  return reading ? `${column}=${reading}` : column;
}

/** Of a page of the account's contacts. */
async function valuesInAccount(context: Context, { structure }: Unclear, fieldId: string): Promise<string[]> {
  const { createContactPages } = await import("../../../service/contact-search.ts");
  const { send, behaviors } = await context.connect();
  const search = { structureId: structure._id, filters: [], source: ["fields"] };
  const { items } = await createContactPages(send, search, behaviors(structure._id))(1, pageOfValues);
  const values = items.flatMap(({ fields = [] }) =>
    fields.filter(({ _id }) => _id === fieldId).map(({ value }) => value.trim()),
  );
  return [...new Set(values)].filter((value) => value !== "");
}

const pageOfValues = 100;

async function askToCreate(
  { terminal }: Context,
  prompter: Prompter,
  { message, details, missing }: MissingNamesError,
): Promise<void> {
  const names = [...missing.lists, ...missing.tags];
  const doubts = names.some(({ near, parts }) => near ?? parts) ? `\n${details.hint}` : "";
  terminal.note(`${message}${doubts}`, "needed");
  const [only] = names;
  const what =
    names.length === 1
      ? `the ${missing.lists.length > 0 ? "list" : "tag"} ${JSON.stringify(only!.name)}`
      : `these ${names.length}`;
  if (!(await prompter.confirm(`Create ${what} with this import?`))) throw new DeclinedError();
}

/** What the answers change in the command that was typed. @param mapping the file that now has all targets */
function formatAnsweredFlags(
  { read, createMissing }: ImportOptions,
  options: ImportOptions,
  typedMap: readonly string[],
  mapping: string | undefined,
): Record<string, unknown> {
  const flagValues = { createMissing: createMissing || undefined, consentColumn: read.consentColumns };
  if (mapping !== undefined) return { ...flagValues, mapping, map: undefined };
  const answered = [...read.map].filter(([column]) => !options.read.map.has(column));
  return { ...flagValues, map: [...typedMap, ...answered.map(([column, target]) => `${column}=${target}`)] };
}

/** Flags of how the input was written, which a file of rejected rows is not. */
const ownOfSource = {
  sheet: undefined,
  delimiter: undefined,
  encoding: undefined,
  skipLines: undefined,
  header: undefined,
};
