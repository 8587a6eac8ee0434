/**
 * `--profiles PATTERN`: a command runs for each profile in turn, in this process, and their results become
 * one, with the profile's name in front. The failure of one profile stops no other.
 */
import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../../context.ts";
import { exitCodes, UsageError } from "../../../errors.ts";
import { isJson, type OutputOptions } from "../../../terminal/format.ts";
import { presentList, type View } from "../../../terminal/present.ts";
import { findShape } from "../flags.ts";
import { findFacts } from "../help-text.ts";
import { shareInput } from "../memory-stream.ts";
import { type CommandTree, toPath } from "../tree.ts";
import { chooseProfiles } from "./choose.ts";
import { type ProfileRow, runForProfile } from "./run-one.ts";

export interface SeveralRuns {
  command: Command;
  context: Context;
  run: CommandTree["run"];
  /** What was typed. */
  words: readonly string[];
}

interface Flags extends OutputFileFlags {
  profiles: string;
  dryRun?: boolean;
}

/** From a success to what somebody must look at first. */
const fromBestToWorst: readonly number[] = [
  exitCodes.done,
  exitCodes.differs,
  exitCodes.rejectedRows,
  exitCodes.notFound,
  exitCodes.outOfBudget,
  exitCodes.conflict,
  exitCodes.unreachable,
  exitCodes.notAuthorized,
  exitCodes.usage,
  exitCodes.failed,
];

/** @throws UsageError before any of them runs; the reason of an interruption, after what was done is shown */
export async function runForProfiles({ command, context, run, words }: SeveralRuns): Promise<void> {
  const flags = command.opts<Flags>();
  const facts = findFacts(command);
  requireOneResult(command, context, flags);
  const output = chooseOutput(command, context, flags);
  const names = chooseProfiles(await context.profiles(), flags.profiles);
  requireSeparateFiles(command, names);
  const path = toPath(command);
  const changesNothing = flags.dryRun || facts?.readsOnly?.(command);
  if (facts?.asks && !changesNothing) await context.confirm(describeAll(path, names));
  const codes = new Map<string, number>();
  const { terminal, signal } = context;
  const files = findFileWords(command);
  const isReceipt = facts?.writes === true && !changesNothing;
  const invocation = { run, words, files, terminal, signal, stdin: shareInput(() => terminal.stdin) };
  const readRows = async function* (): AsyncGenerator<ProfileRow> {
    for (const name of names) {
      const { code, rows } = await runForProfile(invocation, name, { format: output.format, isReceipt });
      codes.set(name, code);
      yield* rows;
      if (signal.aborted) return;
    }
  };
  if (isJson(output.format)) {
    const readObjects = async function* () {
      for await (const { object } of readRows()) yield object;
    };
    await presentList(terminal, { ...output, columns: undefined }, readObjects(), objectsOnly);
  } else {
    // The columns of all are known once all have run: accounts have fields of their own.
    const rows: ProfileRow[] = [];
    for await (const row of readRows()) rows.push(row);
    await presentList(terminal, output, rows, createView(rows));
  }
  if (signal.aborted) throw signal.reason;
  conclude(context, codes);
}

/** A command with formats of its own, such as pages for people, is joined as JSON. @throws UsageError */
function chooseOutput(command: Command, context: Context, flags: Flags & { output?: string }): OutputOptions {
  if (!command.options.some(({ long }) => long === "--output")) return context.output(flags);
  if (flags.output === undefined || flags.output === "json") {
    return { ...context.output(flags, "json"), format: "json" };
  }
  throw new UsageError(
    `--profiles: the results in ${flags.output} cannot be joined`,
    "Use --json, or run it for each profile alone: --profile NAME",
  );
}

/** @throws UsageError for flags and variables with which all profiles would be the same account, or no result */
function requireOneResult(command: Command, { settings, terminal, output }: Context, flags: Flags): void {
  const { profile, baseUrl } = settings;
  for (const [flag, isTyped] of [
    ["--profile", profile?.source === "flag"],
    ["--base-url", baseUrl?.source === "flag"],
  ] as const) {
    if (isTyped) throw new UsageError(`--profiles and ${flag} cannot be used together`, `Leave out ${flag}`);
  }
  for (const variable of ["ECM_BASE_URL", "ECM_API_KEY"]) {
    if (!terminal.env[variable]) continue;
    throw new UsageError(
      `--profiles: ${variable} is set, so that every profile would work on the same account`,
      `Run it without: env -u ${variable} ${toPath(command)} …`,
    );
  }
  const facts = findFacts(command);
  if (!facts?.takesProfiles && !flags.dryRun && !facts?.readsOnly?.(command)) {
    throw new UsageError(
      `--profiles: ${toPath(command)} takes it only with --dry-run`,
      "Add --dry-run, or write to one account at a time: --profile NAME",
    );
  }
  if (output().format === "id") {
    throw new UsageError(
      "--profiles: -o id does not say whose ids they are",
      "Use -o tsv, or --columns profile,… with the column of the id",
    );
  }
}

/** Each run writes its files anew: the last would be all that is left. @throws UsageError */
function requireSeparateFiles(command: Command, names: readonly string[]): void {
  for (const option of command.options) {
    const ending = findShape(option).writes;
    const file: unknown = command.getOptionValue(option.attributeName());
    // The results of all are one file of their own.
    if (ending === undefined || option.long === "--output-file" || typeof file !== "string") continue;
    if (file !== "-" && (file.includes("{profile}") || names.length === 1)) continue;
    throw new UsageError(
      `--profiles: every profile would write ${option.long} ${file}`,
      `Name a file for each, such as ${option.long} '{profile}-${option.attributeName()}.${ending}'`,
    );
  }
}

/** Typed values of what the help calls a file, a plan or a folder. */
function findFileWords(command: Command): Set<string> {
  const options = command.options
    .filter(({ flags }) => /<(?:file|folder|dir|path)>/.test(flags))
    .map((option) => command.opts<Record<string, unknown>>()[option.attributeName()]);
  const named = command.registeredArguments.map((argument, place) =>
    /file|plan|folder|path/.test(argument.name()) ? command.processedArgs[place] : undefined,
  );
  return new Set([...options, ...named].flat().filter((value) => typeof value === "string"));
}

function describeAll(path: string, names: readonly string[]): string {
  const profiles = names.length === 1 ? "1 profile" : `${names.length} profiles`;
  return `Run "${path}" for ${profiles} (${names.join(", ")})? It is done in each of these accounts.`;
}

const objectsOnly: View<object> = { columns: [], id: () => "" };

/** The columns of all rows, in the order in which they are seen first. */
function createView(rows: readonly ProfileRow[]): View<ProfileRow> {
  const heads = new Map(rows.flatMap(({ columns }) => columns.map((column) => [column.name, column])));
  heads.delete("profile");
  return {
    id: () => "",
    columns: [
      { name: "profile", value: ({ object }) => object.profile, isWhole: true },
      ...[...heads.values()].map((head) => ({
        ...head,
        optional: false,
        value: ({ cells }: ProfileRow) => cells.get(head.name),
      })),
    ],
  };
}

function conclude(context: Context, codes: ReadonlyMap<string, number>): void {
  const failed = [...codes].filter(([, code]) => code !== exitCodes.done);
  const worst = [...codes.values()].reduce((one, other) =>
    fromBestToWorst.indexOf(other) > fromBestToWorst.indexOf(one) ? other : one,
  );
  context.endWith(worst);
  if (failed.length === 0) return;
  const named = failed.map(([name, code]) => `${name} (exit ${code})`).join(", ");
  const done = codes.size - failed.length;
  context.terminal.note(`${done} of ${codes.size} profiles ended with exit 0; not: ${named}`, "needed");
}
