/**
 * An import's questions at a terminal, the file that keeps their answers, and the command that needs none of
 * them.
 */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import {
  type ImportOptions,
  type ImportQuestions,
  jobs,
  type MissingNames,
  type RowJob,
} from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { declinedError, type EcmError } from "../../errors.ts";
import { ecm, formatCommand, formatHint, toOperands } from "../../hint.ts";
import {
  type GoneColumns,
  type MappingFault,
  proposeLateColumns,
  type SeveralSheets,
  toUnclearError,
  type UnclearInput,
  type UnknownField,
} from "../../tables/index.ts";
import type { Prompter } from "../../terminal/prompter.ts";
import { isAtTerminal, type WhileAsking } from "../bulk/start.ts";
import { shortPath } from "../bulk/words.ts";
import { checkText } from "../flags/questions.ts";
import { addFlagsToCommand, formatCommandLine } from "../help/command-line.ts";
import { askColumns, ignoreEmpty } from "./columns.ts";

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
  /** A person has just agreed to where they go. */
  areColumnsShown = false;
  /** A list that a person has named, and that does not exist. */
  private newList: string | undefined;
  /** Whether a person is asked which list the contacts are added to. */
  private isListAsked: boolean;

  /** @param mappingFile the answers of the last import of this file, which the options hold */
  constructor(context: Context, typed: TypedImport, options: ImportOptions, mappingFile?: string) {
    this.context = context;
    this.typed = typed;
    this.mappingFile = mappingFile;
    this.isOfLastTime = mappingFile !== undefined;
    this.typedOptions = options;
    this.options = options;
    const { lists, mode } = options;
    this.isListAsked =
      lists.length === 0 &&
      mode !== "update" &&
      !typed.isDryRun &&
      !context.settings.yes &&
      context.prompter() !== undefined &&
      isAtTerminal(context);
  }

  /** The import, which asks what it leaves open. */
  readonly job = (whileAsking: WhileAsking): RowJob => {
    const prompter = this.context.prompter()!;
    const answer = (ask: () => Promise<ImportOptions>) =>
      whileAsking(async () => {
        this.options = await ask();
        return this.options;
      });
    const questions: ImportQuestions = {
      sheet: (several) => answer(() => this.chooseSheet(prompter, several)),
      columns: (found) => answer(() => this.clarifyColumns(prompter, found)),
      mapping: (fault) => answer(() => this.mendMapping(prompter, fault)),
      names: (missing, failure) => answer(() => this.agreeToCreate(prompter, missing, failure)),
      ...(this.isListAsked && { list: (names) => answer(() => this.chooseList(prompter, names)) }),
    };
    return jobs.import(this.options, questions);
  };

  /** The columns and the list are asked again. */
  revise(): void {
    const { options, typedOptions } = this;
    // Lists that flags name are not a matter of answers.
    this.isListAsked = typedOptions.lists.length === 0;
    this.options = { ...options, read: { ...options.read, isReviewed: true } };
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
  private dropColumns({ columns }: GoneColumns): ImportOptions {
    const { read } = this.options;
    const gone = columns.map(({ column }) => column);
    const said = gone.map((column) => {
      const target = read.map.get(column)!;
      return `${JSON.stringify(column)} (${target === "ignore" ? "ignored" : `went to ${target}`})`;
    });
    this.context.terminal.note(`Not in this file any more: ${said.join(", ")}`, "needed");
    const map = new Map([...read.map].filter(([column]) => !gone.includes(column)));
    const splits = read.splits?.filter(([column]) => !gone.includes(column));
    this.unsaved = { ...read, map, splits };
    return { ...this.options, read: this.unsaved };
  }

  private async chooseSheet(prompter: Prompter, several: SeveralSheets): Promise<ImportOptions> {
    const { read } = this.options;
    return { ...this.options, read: { ...read, sheet: await askSheet(prompter, several) } };
  }

  private async clarifyColumns(prompter: Prompter, found: UnclearInput): Promise<ImportOptions> {
    const { context, options } = this;
    const proposal = await proposeLateColumns(found.proposal);
    const plain = ignoreEmpty(context.terminal, proposal, options.read);
    if (plain) return { ...options, read: plain };
    const read = await askColumns(prompter, found, proposal, options.read);
    this.areColumnsShown = true;
    this.unsaved = read;
    return { ...options, read };
  }

  private async mendMapping(prompter: Prompter, fault: MappingFault): Promise<ImportOptions> {
    const { context, options } = this;
    if (fault.kind === "gone") {
      if (!this.isOfLastTime) throw toUnclearError(fault);
      return this.dropColumns(fault);
    }
    if (context.settings.yes) throw toUnclearError(fault);
    const { label, near } = fault;
    // A name like that of another field may be a slip.
    if (near !== undefined) await askToCreateField(context, prompter, fault);
    const newFields = [...(options.read.newFields ?? []), { label, dataType: "text" }];
    return { ...options, read: { ...options.read, newFields } };
  }

  private async chooseList(prompter: Prompter, names: readonly string[]): Promise<ImportOptions> {
    const [now] = this.options.lists;
    const chosen = await askList(prompter, names, now);
    this.newList = chosen !== undefined && !names.includes(chosen) ? chosen : undefined;
    this.isListAsked = false;
    return { ...this.options, lists: chosen === undefined ? this.typedOptions.lists : [chosen] };
  }

  private async agreeToCreate(
    prompter: Prompter,
    missing: MissingNames,
    failure: EcmError,
  ): Promise<ImportOptions> {
    if (this.context.settings.yes) throw failure;
    // A dry run creates nothing, and the last question of a run names what it creates.
    if (!this.typed.isDryRun && this.isDoubtful(missing))
      await askToCreate(this.context, prompter, missing, failure);
    return { ...this.options, createMissing: true };
  }

  /** A name may be misspelled or several in one, unless a person has just entered it. */
  private isDoubtful({ lists, tags }: MissingNames): boolean {
    return [...lists, ...tags].some(
      ({ name, near, parts }) => (near ?? parts) !== undefined && name !== this.newList,
    );
  }

  private hasAnswers(): boolean {
    const typed: Partial<ImportOptions> = this.typedOptions;
    return Object.entries(this.options).some(([name, value]) => typed[name as keyof ImportOptions] !== value);
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

function askSheet(prompter: Prompter, { file, sheets }: SeveralSheets): Promise<string> {
  return prompter.select(
    `${file} has ${sheets.length} sheets. Which one?`,
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

async function askToCreateField(
  { terminal }: Context,
  prompter: Prompter,
  unknownField: UnknownField,
): Promise<void> {
  const { message, details } = toUnclearError(unknownField);
  terminal.note(`${message}\n${formatHint(details.hint ?? "")}`, "needed");
  const isMeant = await prompter.confirm(
    `Create the field ${JSON.stringify(unknownField.label)} with this import?`,
  );
  if (!isMeant) throw declinedError();
}

async function askToCreate(
  { terminal }: Context,
  prompter: Prompter,
  missing: MissingNames,
  { message, details }: EcmError,
): Promise<void> {
  const names = [...missing.lists, ...missing.tags];
  terminal.note(`${message}\n${formatHint(details.hint ?? "")}`, "needed");
  const [only] = names;
  const what =
    names.length === 1
      ? `the ${missing.lists.length > 0 ? "list" : "tag"} ${JSON.stringify(only!.name)}`
      : `these ${names.length}`;
  if (!(await prompter.confirm(`Create ${what} with this import?`))) throw declinedError();
}

// The mapping file beside an input that keeps what was answered about its columns.

/** The answers of the last import of this file: `people.mapping.yaml` beside `people.csv`, where it is there. */
export function findAnswers(input: string): string | undefined {
  const file = toPlace(input);
  return existsSync(file) ? file : undefined;
}

/**
 * @param earlier the file whose answers were gone through again
 * @returns the file; undefined where none can be written
 */
async function saveAnswers(
  context: Context,
  input: string,
  read: ImportOptions["read"],
  earlier: string | undefined,
): Promise<string | undefined> {
  const { terminal } = context;
  const { writeMapping } = await import("../../tables/index.ts");
  const answers = { map: read.map, splits: new Map(read.splits) };
  let file = earlier;
  try {
    if (file === undefined || !(await writeMapping(file, answers, true))) {
      file = choosePlace(input);
      await writeMapping(file, answers);
    }
  } catch (error) {
    terminal.warn(`The answers are not saved: ${(error as Error).message}`);
    return undefined;
  }
  terminal.note(`Saved these answers for the next import of this file: ${shortPath(file)}`);
  return file;
}

/** `people.mapping.yaml`, or with a number where that one was not used. */
function choosePlace(input: string): string {
  for (let number = 1; ; number++) {
    const file = toPlace(input, number === 1 ? "" : `-${number}`);
    if (!existsSync(file)) return file;
  }
}

function toPlace(input: string, number = ""): string {
  const name = basename(input)
    .replace(/\.gz$/i, "")
    .replace(/(?<=.)\.[^.]*$/, "");
  return join(dirname(input), `${name}.mapping${number}.yaml`);
}
