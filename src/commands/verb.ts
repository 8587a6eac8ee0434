/** How a command is declared, and how what it returns is shown in the format that was asked for. */
import type { Command, CommandUnknownOpts, OptionValues } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../context.ts";
import { formatCount } from "../counts.ts";
import type { Hint } from "../hint.ts";
import {
  isForPeople,
  isJson,
  type OutputFormat,
  type OutputOptions,
  type TextForm,
} from "../terminal/format.ts";
import {
  checkColumns,
  explainDryRun,
  hasColumns,
  presentList,
  presentOne,
  presentValue,
  type View,
} from "../terminal/present.ts";
import type { ApiRequest } from "../wire.ts";
import { formatForAccount } from "./help/command-line.ts";
import { type CommandFacts, describeCommand } from "./help/help-text.ts";

/** One record. */
interface One<T> {
  /** The service's own object, as JSON formats show it. */
  one: T;
  /** What columns show, where more is known than the service's object says. */
  known?: T;
  /** A function where names have to be looked up for the columns of this output. */
  view?: View<T> | ((output: OutputOptions) => Promise<View<T>>);
  /** What people read in place of the record. */
  screen?(): string | Promise<string>;
}

/** Records, all of them or a page. */
interface Many<T> {
  many: Iterable<T> | AsyncIterable<T>;
  view?: View<T>;
  /** What a person reads when there is none. */
  empty?: Hint;
  page?: ShownPage;
  /** What JSON formats show in place of the records: the service's own object that tells them. */
  value?: unknown;
  /** Called once all are shown. */
  onShown?(count: number): void;
  /** Is told where the output's file lies, before it appears under its name. */
  beforeRename?(written: string): Promise<void>;
}

interface ShownPage {
  /** Such as `lists`. */
  things: string;
  total?: number;
  hasMore: boolean;
  /** How many were asked for: fewer, where no total is told, are most likely the last. */
  size: number;
  /** The way to those that follow, such as `next page: --page 2`. */
  next: string;
  /** The command names the part that it wants. */
  isRequested: boolean;
}

/** What a dry run would send. */
interface Unsent {
  request: ApiRequest | readonly ApiRequest[];
  /** What follows on `Would`, such as `create the list "Customers"`. */
  would: string;
}

/** A value that is no record of the service: JSON in JSON formats, else the text. */
interface Text {
  text: string;
  value: unknown;
}

/** Lines in the command's own formats, each written as it comes: they may be many. */
interface Pieces {
  pieces: AsyncIterable<string> | Iterable<string>;
}

/** What follows once the result is shown. */
interface Following {
  /** Said on stderr. */
  note?: Hint;
  /** What is done only once the result is shown. */
  last?(): Promise<void>;
  /** Thrown. */
  failure?: unknown;
  /** Done at the end, also where the result could not be shown. */
  release?(): Promise<void>;
}

/** Nothing on stdout: a sentence says what was done. */
interface Done {
  note: Hint;
}

export type Result<T> = (One<T> | Many<T> | Unsent | Text | Pieces | Done) & Following;

interface Presentation<T> {
  /** How records look where no result says it. A mistyped `--columns` is found before anything is sent. */
  view?: View<T>;
  /** The format where neither a flag nor a variable says one. Default: a table at a terminal, else tsv. */
  fallback?: OutputFormat;
  /** The form of the output for people, where it is no table. */
  form?: TextForm;
}

interface Verb<A extends unknown[], O, T> extends CommandFacts, Presentation<T> {
  /** How the output is written, where its formats are the command's own. */
  chooseOutput?(flags: O): OutputOptions;
  /** Does what the command is for. @returns what is shown; undefined: nothing more */
  run(...args: [...A, O, CommandUnknownOpts]): Promise<Result<T> | undefined> | Promise<void>;
}

/**
 * Declares what a command does and what its help says, beside its arguments and flags. The flags of the
 * output's file are found among the command's own.
 */
export function verb<A extends unknown[], O extends OptionValues, G extends OptionValues, T>(
  context: Context,
  command: Command<A, O, G>,
  { view, fallback, form, chooseOutput, run, ...facts }: Verb<A, O & G, T>,
): void {
  describeCommand(command, facts);
  command.action(async (...args: unknown[]) => {
    const flags = args.at(-2) as O & G;
    const output = chooseOutput?.(flags) ?? context.output(flags as OutputFileFlags, fallback, form);
    if (view) checkColumns(output, view);
    const result = await run(...(args as [...A, O & G, CommandUnknownOpts]));
    if (!result) return;
    try {
      await present(context, output, { view, ...result });
      if (result.note !== undefined) context.terminal.note(formatForAccount(result.note, context.settings));
      await result.last?.();
    } finally {
      await result.release?.();
    }
    if (result.failure !== undefined) throw result.failure;
  });
}

async function present<T>(context: Context, output: OutputOptions, result: Result<T>): Promise<void> {
  const { terminal } = context;
  if ("request" in result) {
    return explainDryRun(terminal, output, result.would, ...[result.request].flat());
  }
  if ("pieces" in result) {
    for await (const piece of result.pieces) await terminal.write(`${piece}\n`);
    return;
  }
  if ("many" in result) return presentMany(context, output, result);
  if ("text" in result) return presentValue(terminal, output, result.value, result.text);
  if (!("one" in result)) return;
  const { one, known = one, view, screen } = result;
  if (screen && isForPeople(output)) return terminal.write(await screen());
  const columns = typeof view === "function" ? await view(output) : view!;
  return presentOne(terminal, output, hasColumns(output) ? known : one, columns);
}

async function presentMany<T>(
  context: Context,
  output: OutputOptions,
  { many, view, empty, page, value, onShown, beforeRename }: Many<T>,
): Promise<void> {
  const { terminal, observer, settings } = context;
  if (value !== undefined && isJson(output.format) && !output.columns)
    return presentValue(terminal, output, value, "");
  const whenEmpty = empty === undefined ? {} : { empty: formatForAccount(empty, settings) };
  const shown = await presentList(terminal, { ...output, beforeRename }, many, {
    ...view!,
    ...whenEmpty,
  });
  onShown?.(shown);
  if (!page) return;
  const { things, total, hasMore, size, next, isRequested } = page;
  observer?.page({ total, hasMore });
  if (!hasMore || (total === undefined && shown < size) || terminal.isStdoutClosed) return;
  const of = total === undefined ? "" : ` of ${formatCount(total)}`;
  const text = `${shown}${of} ${things} · all: --all · ${next}`;
  // A script that did not ask for a part is warned, with --quiet too.
  if (isRequested || observer) terminal.note(text);
  else if (terminal.isStdoutTerminal) terminal.note(text, "needed");
  else terminal.warn(text);
}
