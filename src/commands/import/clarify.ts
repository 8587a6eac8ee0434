/** An import's questions at a terminal, the file of their answers, and the next command after a dry run. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CommandUnknownOpts as Command } from "@commander-js/extra-typings";
import { type ImportOptions, type ImportQuestions, type Job, jobs } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { ecm, formatCommand, toOperands } from "../../hint.ts";
import type { SeveralSheets } from "../../tables/index.ts";
import type { Prompter } from "../../terminal/prompts.ts";
import { isAtTerminal, type WhileAsking } from "../bulk/start.ts";
import { shortPath } from "../bulk/words.ts";
import { checkText } from "../flags/questions.ts";
import { addFlagsToCommand, formatCommandLine } from "../help/command-line.ts";
import { askColumns } from "./columns.ts";

export interface TypedImport {
  command: Command;
  file: string;
  isDryRun: boolean;
  /** The answers of the last import of this file: a mapping file beside it, which nobody has typed. */
  answersFile?: string;
}

/** What is asked of a person about one import, and what was answered. */
export class Clarifier {
  readonly #context: Context;
  readonly #typed: TypedImport;
  readonly #typedLists: readonly string[];
  #options: ImportOptions;
  #isListAsked: boolean;
  /** The mapping file of the answers. */
  #answersFile: string | undefined;
  /** A person has just agreed to where the columns go. */
  areColumnsShown = false;

  constructor(context: Context, typed: TypedImport, options: ImportOptions) {
    this.#context = context;
    this.#typed = typed;
    this.#typedLists = options.lists;
    this.#options = options;
    this.#answersFile = typed.answersFile;
    const isNeeded = options.lists.length === 0 && options.mode !== "update" && !typed.isDryRun;
    this.#isListAsked = isNeeded && !context.settings.yes && isAtTerminal(context);
    // The last question of a run names what it creates.
    if (!context.settings.yes) this.#read({ createsFields: true });
  }

  /** The import, which asks what it leaves open. */
  readonly job = (whileAsking: WhileAsking): Job => {
    const prompter = this.#context.prompter()!;
    const answer = (ask: () => Promise<Partial<ImportOptions>>) =>
      whileAsking(async () => {
        this.#options = { ...this.#options, ...(await ask()) };
        return this.#options;
      });
    const answerReading = (ask: () => Promise<Partial<ImportOptions["read"]>>) =>
      answer(async () => ({ read: { ...this.#options.read, ...(await ask()) } }));
    const questions: ImportQuestions = {
      sheet: (several) => answerReading(async () => ({ sheet: await chooseSheet(prompter, several) })),
      columns: (found) =>
        answerReading(async () => {
          const read = await askColumns(prompter, found, this.#options.read);
          this.areColumnsShown = true;
          return read;
        }),
      names: (failure) =>
        answer(async () => {
          if (this.#context.settings.yes) throw failure;
          return { createMissing: true };
        }),
      ...(this.#isListAsked && { list: (names) => answer(() => this.#chooseList(prompter, names)) }),
    };
    return jobs.import(this.#options, questions);
  };

  /** The columns and the list are asked again. */
  revise(): void {
    // Lists that flags name are not a matter of answers.
    this.#isListAsked = this.#typedLists.length === 0;
    this.#read({ isReviewed: true });
  }

  /** Keeps what was answered about the columns: after the yes, or at the end of a dry run. */
  readonly save = async (): Promise<void> => {
    if (!this.areColumnsShown) return;
    const { writeMapping } = await import("../../tables/index.ts");
    const { terminal } = this.#context;
    const file = toAnswersPath(this.#typed.file);
    try {
      if (!(await writeMapping(file, this.#options.read.map))) return;
    } catch (error) {
      terminal.warn(`The answers are not saved: ${(error as Error).message}`);
      return;
    }
    terminal.note(`Saved these answers for the next import of this file: ${shortPath(file)}`);
    this.#answersFile = file;
  };

  /** The next command of a dry run: the plan that it wrote, carried out, or the same import for real. */
  sayNext(plan: string | undefined): void {
    const { terminal, settings } = this.#context;
    if (!terminal.isStderrTerminal) return;
    const next =
      plan === undefined || plan === "-"
        ? this.#formatCommand()
        : formatCommand(addFlagsToCommand(ecm`apply ${toOperands(plan)}`, settings));
    terminal.note(`Run it with: ${next}`);
  }

  /** The command that was typed, without a dry run, and with the answers. */
  #formatCommand(): string {
    const { command, file } = this.#typed;
    const { read, createMissing } = this.#options;
    const ofDryRun = {
      dryRun: undefined,
      show: undefined,
      report: undefined,
      redact: undefined,
      plan: undefined,
    };
    return formatCommandLine(command, [file], {
      ...ofDryRun,
      fresh: undefined,
      sheet: read.sheet,
      consentColumn: read.consentColumns,
      createMissing: createMissing || undefined,
      ...(this.#answersFile !== undefined && { mapping: shortPath(this.#answersFile), map: undefined }),
    });
  }

  #read(changes: Partial<ImportOptions["read"]>): void {
    this.#options = { ...this.#options, read: { ...this.#options.read, ...changes } };
  }

  async #chooseList(prompter: Prompter, names: readonly string[]): Promise<Partial<ImportOptions>> {
    const chosen = await askList(prompter, names, this.#options.lists[0]);
    this.#isListAsked = false;
    return { lists: chosen === undefined ? [...this.#typedLists] : [chosen] };
  }
}

function chooseSheet(prompter: Prompter, { file, sheets }: SeveralSheets): Promise<string> {
  const question = `${file} has ${formatCounted(sheets.length, "sheet")}. Which one?`;
  return prompter.select(
    question,
    sheets.map((name) => ({ name, value: name })),
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
    { initial: now ?? noList },
  );
  if (chosen === noList) return undefined;
  if (chosen !== newList) return chosen;
  return (await prompter.input("Name of the new list", undefined, checkText)).trim();
}

/** The answers of the last import of this file, if any: `people.mapping.yaml` beside `people.csv`. */
export function findAnswers(input: string): string | undefined {
  const file = toAnswersPath(input);
  return input !== "-" && existsSync(file) ? file : undefined;
}

function toAnswersPath(input: string): string {
  const name = basename(input)
    .replace(/\.gz$/i, "")
    .replace(/(?<=.)\.[^.]*$/, "");
  return join(dirname(input), `${name}.mapping.yaml`);
}
