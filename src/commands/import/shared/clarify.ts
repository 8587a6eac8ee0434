/**
 * An import's questions at a terminal, the file that keeps their answers, and the command that needs none of
 * them.
 */

import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import {
  type ImportOptions,
  importJob,
  MissingNamesError,
  NoListError,
  type RowJob,
} from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { formatCounted } from "../../../counts.ts";
import { DeclinedError } from "../../../errors.ts";
import { ecm, formatCommand, formatHint, toOperands } from "../../../hint.ts";
import {
  GoneColumnsError,
  SeveralSheetsError,
  UnclearColumnsError,
  UnknownFieldError,
} from "../../../tables/index.ts";
import type { Prompter } from "../../../terminal/prompter.ts";
import { shortPath } from "../../bulk/format.ts";
import { isAtTerminal } from "../../bulk/start.ts";
import { checkText } from "../../flags/questions.ts";
import { addFlagsToCommand, formatCommandLine } from "../../help/command-line.ts";
import { askColumns, ignoreEmpty } from "./interview.ts";
import { saveAnswers } from "./saved-answers.ts";

export interface TypedImport {
  command: Command;
  file: string;
  map: readonly string[];
  isDryRun: boolean;
}

/** What is asked of a person about one import, and what was answered. */
export class Clarifier {
  private readonly context: Context;
  private readonly typed: TypedImport;
  private readonly typedOptions: ImportOptions;
  private options: ImportOptions;
  /** The mapping file is the one beside the input: nobody has typed its name. */
  private readonly isOfLastTime: boolean;
  /** The mapping file of the answers: the one beside the input, or the one that was written. */
  private mappingFile: string | undefined;
  /** Answers about columns that no file has yet. */
  private unsaved: ImportOptions["read"] | undefined;
  /** A list that a person has named, and that does not exist. */
  private newList: string | undefined;

  /** @param mappingFile the answers of the last import of this file, which the options hold */
  constructor(context: Context, typed: TypedImport, options: ImportOptions, mappingFile?: string) {
    this.context = context;
    this.typed = typed;
    this.mappingFile = mappingFile;
    this.isOfLastTime = mappingFile !== undefined;
    this.typedOptions = options;
    const { lists, mode } = options;
    const isListAsked =
      lists.length === 0 &&
      mode !== "update" &&
      !typed.isDryRun &&
      !context.settings.yes &&
      context.prompter() !== undefined &&
      isAtTerminal(context);
    this.options = isListAsked ? { ...options, asksList: true } : options;
  }

  job(): RowJob {
    return importJob(this.options);
  }

  /** As `RunOptions.clarify`: asks, and sends no write. */
  readonly clarify = async (failure: unknown): Promise<RowJob> => {
    const prompter = this.context.prompter();
    if (!prompter) throw failure;
    const { read } = this.options;
    if (failure instanceof SeveralSheetsError) {
      this.options = { ...this.options, read: { ...read, sheet: await askSheet(prompter, failure) } };
    } else if (failure instanceof GoneColumnsError && this.isOfLastTime) this.dropColumns(failure.columns);
    else if (failure instanceof UnclearColumnsError) await this.clarifyColumns(prompter, failure);
    else if (failure instanceof NoListError) await this.clarifyList(prompter, failure);
    else if (failure instanceof UnknownFieldError && !this.context.settings.yes)
      await this.clarifyField(prompter, failure);
    else if (failure instanceof MissingNamesError && !this.context.settings.yes) {
      // A dry run creates nothing: it only says what would be new.
      if (!this.typed.isDryRun && !this.isForesaid(failure)) {
        await askToCreate(this.context, prompter, failure);
      }
      this.options = { ...this.options, createMissing: true };
    } else throw failure;
    return this.job();
  };

  /** The columns and the list are asked again. */
  revise(): void {
    const { options, typedOptions } = this;
    // Lists that flags name are not a matter of answers.
    const asksList = typedOptions.lists.length === 0;
    this.options = { ...options, read: { ...options.read, isReviewed: true }, asksList };
  }

  /** Keeps what was answered about the columns: after the yes, or at the end of a dry run. */
  readonly save = async (): Promise<void> => {
    if (!this.unsaved) return;
    this.mappingFile = await saveAnswers(this.context, this.typed.file, this.unsaved, this.mappingFile);
    this.unsaved = undefined;
  };

  /** The next command of a dry run: the plan that it wrote, carried out, or the same import for real. */
  sayNext(plan: string | undefined): void {
    const { context, typed } = this;
    const { terminal, settings } = context;
    if (!terminal.isStderrTerminal && !this.hasAnswers()) return;
    const flags = {
      fresh: undefined,
      dryRun: undefined,
      show: undefined,
      report: undefined,
      redact: undefined,
    };
    const next =
      plan === undefined || plan === "-"
        ? formatCommandLine(typed.command, [typed.file], {
            ...flags,
            plan: undefined,
            ...this.answeredFlags(),
          })
        : formatCommand(addFlagsToCommand(ecm`apply ${toOperands(plan)}`, settings));
    terminal.note(`Run it with: ${next}`);
  }

  /** The command that does the same without a question, where one was asked. */
  sayCommand(): void {
    if (!this.hasAnswers()) return;
    const { context, typed } = this;
    const flags = { fresh: undefined, ...this.answeredFlags() };
    context.terminal.note(`Next time: ${formatCommandLine(typed.command, [typed.file], flags)}`);
  }

  /** Answers of the last time about columns that the file does not have any more. */
  private dropColumns(gone: readonly string[]): void {
    const { read } = this.options;
    const said = gone.map((column) => {
      const target = read.map.get(column)!;
      return `${JSON.stringify(column)} (${target === "ignore" ? "ignored" : `went to ${target}`})`;
    });
    this.context.terminal.note(`Not in this file any more: ${said.join(", ")}`, "needed");
    const map = new Map([...read.map].filter(([column]) => !gone.includes(column)));
    const splits = read.splits?.filter(([column]) => !gone.includes(column));
    this.unsaved = { ...read, map, splits };
    this.options = { ...this.options, read: this.unsaved };
  }

  private async clarifyColumns(prompter: Prompter, failure: UnclearColumnsError): Promise<void> {
    const { context, options } = this;
    const proposal = await failure.completeProposal();
    const plain = ignoreEmpty(context.terminal, proposal, options.read);
    if (plain) {
      this.options = { ...options, read: plain };
      return;
    }
    const read = await askColumns(prompter, failure, proposal, options.read);
    this.options = { ...options, read };
    this.unsaved = read;
  }

  private async clarifyField(prompter: Prompter, failure: UnknownFieldError): Promise<void> {
    if (failure.near !== undefined) await askToCreateField(this.context, prompter, failure);
    const { read } = this.options;
    const newFields = [...(read.newFields ?? []), { label: failure.label, dataType: "text" }];
    this.options = { ...this.options, read: { ...read, newFields } };
  }

  private async clarifyList(prompter: Prompter, { listNames }: NoListError): Promise<void> {
    const names = await listNames();
    const [now] = this.options.lists;
    const chosen = await askList(prompter, names, now);
    this.newList = chosen !== undefined && !names.includes(chosen) ? chosen : undefined;
    const lists = chosen === undefined ? this.typedOptions.lists : [chosen];
    this.options = { ...this.options, lists, asksList: false };
  }

  /** All that is missing is the list that a person has just named. */
  private isForesaid({ missing }: MissingNamesError): boolean {
    return missing.tags.length === 0 && missing.lists.every(({ name }) => name === this.newList);
  }

  private hasAnswers(): boolean {
    const { asksList: _asksList, ...options } = this.options;
    const typed: Partial<ImportOptions> = this.typedOptions;
    return Object.entries(options).some(([name, value]) => typed[name as keyof ImportOptions] !== value);
  }

  /** What the answers change in the command that was typed. */
  private answeredFlags(): Record<string, unknown> {
    if (!this.hasAnswers()) return {};
    const { read, lists, createMissing } = this.options;
    const flags = {
      createMissing: createMissing || undefined,
      list: lists.length > 0 ? lists : undefined,
      sheet: read.sheet,
      consentColumn: read.consentColumns,
    };
    if (this.mappingFile !== undefined && !this.unsaved) {
      return { ...flags, mapping: shortPath(this.mappingFile), map: undefined };
    }
    const answered = [...read.map].filter(
      ([column, target]) => this.typedOptions.read.map.get(column) !== target,
    );
    return {
      ...flags,
      map: [...this.typed.map, ...answered.map(([column, target]) => `${column}=${target}`)],
    };
  }
}

function askSheet(prompter: Prompter, { message, sheets }: SeveralSheetsError): Promise<string> {
  return prompter.select(
    `${message.slice(0, message.lastIndexOf(":"))}. Which one?`,
    sheets.map(({ name, lines }) => ({
      name: lines === undefined ? name : `${name}  (${formatCounted(lines, "line")})`,
      short: name,
      value: name,
    })),
  );
}

const noList = "";
/** No list of the account is named so: names have no break. */
const newList = "\n";

/** @param now the list that was chosen before @returns undefined for none */
async function askList(
  prompter: Prompter,
  names: readonly string[],
  now: string | undefined,
): Promise<string | undefined> {
  const known = now === undefined || names.includes(now) ? names : [now, ...names];
  const chosen = await prompter.select<string>(
    "Add these contacts to a list?",
    [
      { name: "no list", value: noList },
      ...known.map((name) => ({ name, value: name })),
      { name: "a new list", value: newList },
    ],
    now ?? noList,
  );
  if (chosen === noList) return undefined;
  if (chosen !== newList) return chosen;
  return (await prompter.input("Name of the new list", undefined, checkText)).trim();
}

/** A name like that of another field may be a slip. */
async function askToCreateField(
  { terminal }: Context,
  prompter: Prompter,
  { message, details, label }: UnknownFieldError,
): Promise<void> {
  terminal.note(`${message}\n${formatHint(details.hint ?? "")}`, "needed");
  const isMeant = await prompter.confirm(`Create the field ${JSON.stringify(label)} with this import?`);
  if (!isMeant) throw new DeclinedError();
}

async function askToCreate(
  { terminal }: Context,
  prompter: Prompter,
  { message, details, missing }: MissingNamesError,
): Promise<void> {
  const names = [...missing.lists, ...missing.tags];
  const doubts = names.some(({ near, parts }) => near ?? parts) ? `\n${formatHint(details.hint ?? "")}` : "";
  terminal.note(`${message}${doubts}`, "needed");
  const [only] = names;
  const what =
    names.length === 1
      ? `the ${missing.lists.length > 0 ? "list" : "tag"} ${JSON.stringify(only!.name)}`
      : `these ${names.length}`;
  if (!(await prompter.confirm(`Create ${what} with this import?`))) throw new DeclinedError();
}
