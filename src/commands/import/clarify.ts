/**
 * An import's questions at a terminal, the file that keeps their answers, and the command that needs none of
 * them.
 */

import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { type ImportOptions, type ImportQuestions, type Job, jobs } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCounted, formatQuotedNames } from "../../counts.ts";
import { ecm, formatCommand, toOperands } from "../../hint.ts";
import {
  type MappingFault,
  type SeveralSheets,
  toMappingError,
  toTargetText,
  type UnclearInput,
} from "../../tables/index.ts";
import type { Prompter } from "../../terminal/prompter.ts";
import { isAtTerminal, type WhileAsking } from "../bulk/start.ts";
import { shortPath } from "../bulk/words.ts";
import { checkText } from "../flags/questions.ts";
import { addFlagsToCommand, formatCommandLine } from "../help/command-line.ts";
import { askColumns } from "./columns.ts";

export interface TypedImport {
  command: Command;
  file: string;
  map: readonly string[];
  isDryRun: boolean;
}

/** What is asked of a person about one import, and what was answered. */
export class Clarifier {
  readonly #context: Context;
  readonly #typed: TypedImport;
  readonly #typedOptions: ImportOptions;
  #options: ImportOptions;
  /** The mapping file is the one beside the input: nobody has typed its name. */
  readonly #isOfLastTime: boolean;
  /** The mapping file of the answers: the one beside the input, or the one that was written. */
  #mappingFile: string | undefined;
  /** Answers about columns that no file has yet. */
  #unsaved: ImportOptions["read"] | undefined;
  /** A person has just agreed to where they go. */
  areColumnsShown = false;
  /** Whether a person is asked which list the contacts are added to. */
  #isListAsked: boolean;

  /** @param mappingFile the answers of the last import of this file, which the options hold */
  constructor(context: Context, typed: TypedImport, options: ImportOptions, mappingFile?: string) {
    this.#context = context;
    this.#typed = typed;
    this.#mappingFile = mappingFile;
    this.#isOfLastTime = mappingFile !== undefined;
    this.#typedOptions = options;
    this.#options = options;
    const isNeeded = options.lists.length === 0 && options.mode !== "update" && !typed.isDryRun;
    const canAsk = !context.settings.yes && context.prompter() !== undefined && isAtTerminal(context);
    this.#isListAsked = isNeeded && canAsk;
  }

  /** The import, which asks what it leaves open. */
  readonly job = (whileAsking: WhileAsking): Job => {
    const prompter = this.#context.prompter()!;
    const answer = (ask: () => Promise<Partial<ImportOptions>>) =>
      whileAsking(async () => {
        this.#options = { ...this.#options, ...(await ask()) };
        return this.#options;
      });
    const questions: ImportQuestions = {
      sheet: (several) => answer(() => this.#chooseSheet(prompter, several)),
      columns: (found) => answer(() => this.#clarifyColumns(prompter, found)),
      mapping: (fault) => answer(async () => this.#mendMapping(fault)),
      names: (failure) =>
        answer(async () => {
          if (this.#context.settings.yes) throw failure;
          // The last question of a run names what it creates.
          return { createMissing: true };
        }),
      ...(this.#isListAsked && { list: (names) => answer(() => this.#chooseList(prompter, names)) }),
    };
    return jobs.import(this.#options, questions);
  };

  /** The columns and the list are asked again. */
  revise(): void {
    // Lists that flags name are not a matter of answers.
    this.#isListAsked = this.#typedOptions.lists.length === 0;
    this.#options = { ...this.#options, read: { ...this.#options.read, isReviewed: true } };
  }

  /** Keeps what was answered about the columns: after the yes, or at the end of a dry run. */
  readonly save = async (): Promise<void> => {
    if (!this.#unsaved) return;
    const { writeMapping } = await import("../../tables/index.ts");
    const { terminal } = this.#context;
    const file = toAnswersPath(this.#typed.file);
    this.#mappingFile = undefined;
    try {
      if (!(await writeMapping(file, this.#unsaved.map))) return;
    } catch (error) {
      terminal.warn(`The answers are not saved: ${(error as Error).message}`);
      return;
    }
    terminal.note(`Saved these answers for the next import of this file: ${shortPath(file)}`);
    this.#mappingFile = file;
    this.#unsaved = undefined;
  };

  /** The next command of a dry run: the plan that it wrote, carried out, or the same import for real. */
  sayNext(plan: string | undefined): void {
    const { terminal, settings } = this.#context;
    if (!terminal.isStderrTerminal && !this.#hasAnswers()) return;
    const next =
      plan === undefined || plan === "-"
        ? this.#formatCommand({
            dryRun: undefined,
            show: undefined,
            report: undefined,
            redact: undefined,
            plan: undefined,
          })
        : formatCommand(addFlagsToCommand(ecm`apply ${toOperands(plan)}`, settings));
    terminal.note(`Run it with: ${next}`);
  }

  /** The command that does the same without a question, where one was asked. */
  sayCommand(): void {
    if (this.#hasAnswers()) this.#context.terminal.note(`Next time: ${this.#formatCommand({})}`);
  }

  async #chooseSheet(prompter: Prompter, { file, sheets }: SeveralSheets): Promise<Partial<ImportOptions>> {
    const sheet = await prompter.select(
      `${file} has ${formatCounted(sheets.length, "sheet")}. Which one?`,
      sheets.map((name) => ({ name, value: name })),
    );
    return { read: { ...this.#options.read, sheet } };
  }

  async #clarifyColumns(prompter: Prompter, found: UnclearInput): Promise<Partial<ImportOptions>> {
    const read = await askColumns(prompter, found, this.#options.read);
    this.areColumnsShown = true;
    this.#unsaved = read;
    return { read };
  }

  #mendMapping(fault: MappingFault): Partial<ImportOptions> {
    const { read } = this.#options;
    const { settings, terminal } = this.#context;
    if (fault.kind === "gone") {
      const { columns } = fault;
      const isTyped = columns.some((column) => this.#typed.map.some((text) => text.startsWith(`${column}=`)));
      if (!this.#isOfLastTime || isTyped) throw toMappingError(fault);
      terminal.note(`Not in this file any more: ${formatQuotedNames(columns)}`, "needed");
      const map = [...read.map].filter(([column]) => !columns.includes(column));
      this.#unsaved = { ...read, map };
      return { read: this.#unsaved };
    }
    if (settings.yes) throw toMappingError(fault);
    // The last question of a run names what it creates.
    const missing = fault.labels.map((label) => ({ label, dataType: "text" }));
    return { read: { ...read, newFields: [...(read.newFields ?? []), ...missing] } };
  }

  async #chooseList(prompter: Prompter, names: readonly string[]): Promise<Partial<ImportOptions>> {
    const chosen = await askList(prompter, names, this.#options.lists[0]);
    this.#isListAsked = false;
    return { lists: chosen === undefined ? this.#typedOptions.lists : [chosen] };
  }

  #hasAnswers(): boolean {
    const typed: Partial<ImportOptions> = this.#typedOptions;
    return Object.entries(this.#options).some(
      ([name, value]) => typed[name as keyof ImportOptions] !== value,
    );
  }

  /** The command that was typed, with what the answers change in it. */
  #formatCommand(flags: Record<string, undefined>): string {
    const { command, file } = this.#typed;
    const answers = this.#hasAnswers() ? this.#answeredFlags() : {};
    return formatCommandLine(command, [file], { fresh: undefined, ...flags, ...answers });
  }

  #answeredFlags(): Record<string, unknown> {
    const { read, lists, createMissing } = this.#options;
    const flags = {
      createMissing: createMissing || undefined,
      list: lists.length > 0 ? lists : undefined,
      sheet: read.sheet,
      consentColumn: read.consentColumns,
    };
    if (this.#mappingFile !== undefined && !this.#unsaved)
      return { ...flags, mapping: shortPath(this.#mappingFile), map: undefined };
    const typed = new Map(this.#typedOptions.read.map);
    const answered = [...read.map].filter(([column, target]) => typed.get(column) !== target);
    const map = answered.map(([column, target]) => `${column}=${toTargetText(target)}`);
    return { ...flags, map: [...this.#typed.map, ...map] };
  }
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

/** The answers of the last import of this file: `people.mapping.yaml` beside `people.csv`, where it is there. */
export function findAnswers(input: string): string | undefined {
  const file = toAnswersPath(input);
  return existsSync(file) ? file : undefined;
}

function toAnswersPath(input: string): string {
  const name = basename(input)
    .replace(/\.gz$/i, "")
    .replace(/(?<=.)\.[^.]*$/, "");
  return join(dirname(input), `${name}.mapping.yaml`);
}
