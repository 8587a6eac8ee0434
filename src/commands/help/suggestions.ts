/** What is wrong with the words of a command line, and what was probably meant. */

import type { CommandUnknownOpts as Command, CommanderError } from "@commander-js/extra-typings";
import { findClosest } from "../../api/names.ts";
import { capitalize } from "../../counts.ts";
import { type EcmError, usageError } from "../../errors.ts";
import { advise, ecm, type Hint, startsWithCommand } from "../../hint.ts";
import { findDeepestCommand, listChildNames, listFlags, toPath, toWords } from "./tree.ts";

/**
 * A failure of the command line's grammar, as ours.
 * @param words what was typed
 */
export function toUsageError(error: CommanderError, program: Command, words: readonly string[]): EcmError {
  const command = findDeepestCommand(program, words);
  const path = toPath(command);
  const group = toWords(command);
  const help = advise`See: ${ecm`${group} --help`}`;
  const message = error.message.replace(/^error: /, "");
  const quotedName = /'(.*)'$/s.exec(message)?.[1] ?? "";
  if (error.code === "commander.unknownCommand") {
    const names = listChildNames(command);
    const hint = suggestCommand(group.join(" "), quotedName, names);
    return usageError(`There is no command "${path} ${quotedName}"`, hint ?? help);
  }
  if (error.code === "commander.missingArgument") {
    const usage = ecm`${[...group, ...command.registeredArguments.map(toPlaceholder)]}`;
    return usageError(`The argument ${quotedName.toUpperCase()} is missing`, advise`Name it: ${usage}`);
  }
  let hint: Hint | undefined;
  if (error.code === "commander.unknownOption") {
    const names = command.registeredArguments.map((argument) => argument.name());
    hint = suggestFlag(
      quotedName,
      listFlags(command).flatMap(({ long }) => long ?? []),
      names,
    );
  }
  if (error.code === "commander.invalidArgument") hint = suggestChoice(message);
  if (error.code === "commander.conflictingOption") hint = "Leave out one of the two";
  if (error.code === "commander.excessArguments") hint = suggestForSurplus(path);
  return usageError(capitalize(message), hint ?? help);
}

/** As a usage shows it: `FILE`, `KEY…`. */
function toPlaceholder(argument: Command["registeredArguments"][number]): string {
  return `${argument.name().toUpperCase()}${argument.variadic ? "…" : ""}`;
}

const cannotResumeHint = "Unsubscribed people stay unsubscribed: only they can subscribe again";

const topLevelSuggestions: Record<string, Hint> = {
  search: ecm`contact search`,
  find: ecm`contact search`,
  ls: advise`${ecm`contact search`}, or ${ecm`lists list`}`,
  get: ecm`contact get ID-OR-KEY`,
  show: ecm`contact get ID-OR-KEY`,
  create: advise`${ecm`contact create`}, or ${ecm`lists create NAME`}`,
  add: advise`${ecm`contact create`}, or ${ecm`lists create NAME`}`,
  update: ecm`contact mutate ID-OR-KEY`,
  mutate: ecm`contact mutate ID-OR-KEY`,
  edit: ecm`contact mutate ID-OR-KEY`,
  unsubscribe: ecm`contact unsubscribe ID-OR-KEY`,
  resubscribe: cannotResumeHint,
  reactivate: cannotResumeHint,
  restore: advise`${ecm`runs undo RUN`}; see: ${ecm`runs list`}`,
  delete: advise`${ecm`contact delete ID-OR-KEY`}, or ${ecm`lists delete LIST`}`,
  remove: advise`${ecm`contact delete ID-OR-KEY`}, or ${ecm`lists delete LIST`}`,
  rm: advise`${ecm`contact delete ID-OR-KEY`}, or ${ecm`lists delete LIST`}`,
  erase: ecm`contact erase KEY`,
  forget: ecm`contact erase KEY`,
  login: ecm`auth login`,
  logout: ecm`auth logout`,
  status: advise`${ecm`auth status`}, or ${ecm`doctor`}`,
  whoami: ecm`auth status`,
  use: ecm`auth use NAME`,
  switch: ecm`auth use NAME`,
  profile: ecm`auth list`,
  profiles: ecm`auth list`,
  account: ecm`auth status`,
  config: advise`${ecm`auth status`}, or ${ecm`doctor`}`,
  keys: advise`${ecm`auth status`}; for keys of the sandbox: ${ecm`sandbox keys list`}`,
  tag: advise`${ecm`structure tag add LABEL`}; to see all tags: ${ecm`structure get`}`,
  tags: advise`${ecm`structure get`}; to add one: ${ecm`structure tag add LABEL`}`,
  field: advise`${ecm`structure field add LABEL`}; to see all fields: ${ecm`structure get`}`,
  fields: advise`${ecm`structure get`}; to add one: ${ecm`structure field add LABEL`}`,
  schema: ecm`structure get`,
  sync: ecm`lists sync LIST FILE`,
  merge: ecm`lists merge LIST… --into NAME`,
  undo: ecm`runs undo RUN`,
  resume: ecm`runs resume RUN`,
  rejects: ecm`runs rejects RUN`,
  jobs: ecm`runs list`,
  upload: ecm`import FILE`,
  download: ecm`export`,
  quota: ecm`limits`,
  usage: ecm`limits`,
  request: ecm`api METHOD PATH`,
  start: ecm`sandbox start`,
  serve: advise`${ecm`sandbox start`}, or for agents: ${ecm`mcp`}`,
  suppress: ecm`suppressions add KEY`,
  dashboard: ecm`reports`,
  stats: ecm`reports`,
  dns: ecm`domains get DOMAIN`,
  version: ecm`--version`,
};

const suggestionsByGroup: Record<string, Record<string, Hint>> = {
  contact: {
    add: advise`${ecm`contact create --key KEY`}; to a list: ${ecm`contact mutate ID-OR-KEY --add-list LIST`}`,
    import: ecm`import FILE`,
    export: ecm`export`,
    events: ecm`events ID-OR-KEY`,
    history: ecm`events ID-OR-KEY`,
    tag: ecm`contact mutate ID-OR-KEY --add-tag TAG`,
    untag: ecm`contact mutate ID-OR-KEY --remove-tag TAG`,
    set: ecm`contact mutate ID-OR-KEY --set FIELD=VALUE`,
    count: ecm`contact search --count`,
    suppress: ecm`suppressions add KEY`,
    subscribe: advise`${ecm`contact create --key KEY`} for a new contact; unsubscribed people can only subscribe again themselves`,
    resubscribe: cannotResumeHint,
    reactivate: cannotResumeHint,
    activate: cannotResumeHint,
    rename: advise`${ecm`contact mutate ID-OR-KEY --set FIELD=VALUE`}; a new key: ${ecm`contact move OLD NEW`}`,
    undo: advise`${ecm`runs undo RUN`}; see: ${ecm`runs list`}`,
    undelete: advise`${ecm`runs undo RUN`}; see: ${ecm`runs list`}`,
    restore: advise`${ecm`runs undo RUN`}; see: ${ecm`runs list`}`,
    upsert: ecm`import FILE`,
    sync: ecm`lists sync LIST FILE`,
  },
  lists: {
    members: ecm`contact search --list LIST`,
    contacts: ecm`contact search --list LIST`,
    add: advise`${ecm`contact mutate ID-OR-KEY --add-list LIST`}; a new list: ${ecm`lists create NAME`}`,
    remove: advise`${ecm`contact mutate ID-OR-KEY --remove-list LIST`}; the list itself: ${ecm`lists delete LIST`}`,
    update: ecm`lists rename LIST NAME`,
    copy: ecm`lists duplicate LIST NAME`,
    move: ecm`contact mutate --list LIST --add-list OTHER --remove-list LIST`,
    rename: ecm`lists rename LIST NAME`,
    undelete: "a list that was deleted cannot be restored; its contacts are still in the account",
    export: ecm`export --list LIST`,
    import: ecm`import FILE --list LIST`,
  },
  "structure tag": { list: ecm`structure get`, delete: ecm`structure tag remove TAG` },
  "structure field": { list: ecm`structure get`, delete: ecm`structure field remove FIELD` },
  "sandbox keys": { rotate: ecm`sandbox keys regenerate NAME`, show: ecm`sandbox keys list` },
  structure: {
    show: ecm`structure get`,
    fields: advise`To see them: ${ecm`structure get`}; to change one: ${ecm`structure field rename FIELD LABEL`} (or add, remove)`,
    tags: advise`To see them: ${ecm`structure get`}; to change one: ${ecm`structure tag rename TAG LABEL`} (or add, remove)`,
    create: advise`a structure cannot be created with an API key; fields and tags can: ${ecm`structure field add LABEL`}`,
  },
  auth: { whoami: ecm`auth status`, switch: ecm`auth use NAME`, show: ecm`auth status` },
  runs: { retry: ecm`runs resume RUN`, continue: ecm`runs resume RUN`, rollback: ecm`runs undo RUN` },
};

/**
 * What to say to a word that is no command.
 * @param group the words of the group that it was tried in; empty for the first word
 * @param names of the commands that there are
 */
function suggestCommand(group: string, word: string, names: readonly string[]): Hint | undefined {
  const suggestion = findEntry(
    group === "" ? topLevelSuggestions : (suggestionsByGroup[group] ?? {}),
    word.toLowerCase(),
  );
  if (suggestion) return startsWithCommand(suggestion) ? advise`Use: ${suggestion}` : suggestion;
  const meant = group === "" ? Object.keys(topLevelSuggestions).filter((each) => each.length > 3) : [];
  const likely = findClosest(word, [...names, ...meant]);
  if (likely !== undefined && !names.includes(likely)) return suggestCommand(group, likely, names);
  // One does the opposite of the other.
  if (likely === undefined || toStem(likely) === toStem(word)) return undefined;
  return `Did you mean ${likely}?`;
}

/** Without what turns a word round: a person who asks to resubscribe must not be led to unsubscribe. */
function toStem(word: string): string {
  return word.toLowerCase().replace(/^(?:un|re)-?/, "");
}

/**
 * Flags that people try, and the one that does it, of those that
 * the command has; each is the flag and its value.
 */
const flagSuggestions: Record<string, readonly string[]> = {
  file: ["--keys FILE", "--output-file FILE", "--data FILE"],
  input: ["--keys FILE", "--data FILE"],
  csv: ["--keys FILE", "--output csv"],
  out: ["--output-file FILE"],
  "key-file": ["--keys FILE"],
  "keys-file": ["--keys FILE"],
  email: ["--key KEY"],
  id: ["--key KEY"],
  field: ["--set FIELD=VALUE", "--where EXPRESSION"],
  "add-field": ["--set FIELD=VALUE"],
  query: ["--where EXPRESSION", "--filter CONDITION"],
  search: ["--where EXPRESSION"],
  sql: ["--where EXPRESSION"],
  format: ["--output FORMAT"],
  account: ["--profile NAME"],
  env: ["--profile NAME"],
  url: ["--base-url URL"],
  host: ["--base-url URL"],
  sandbox: ["--profile sandbox"],
  simulate: ["--dry-run"],
  preview: ["--dry-run"],
  version: ["--if-version N"],
  rows: ["--limit N"],
  max: ["--limit N", "--max-requests N"],
  silent: ["--quiet"],
  debug: ["--verbose"],
  trace: ["--verbose"],
  batch: ["--no-input"],
  "non-interactive": ["--no-input"],
  restart: ["--fresh"],
  threads: ["--concurrency N"],
  parallel: ["--concurrency N"],
};

/** Whoever uses one of these says it unasked: no hint leads there. */
const neverSuggested = /^--(?:include-(?:suppressed|unsubscribed)|yes|all|delete-|prune)/;

/**
 * What to say to a flag that a command does not have.
 * @param flagNames of the flags that it has, those of every command included
 * @param words the names of the words that it takes, such as `id-or-key`
 */
function suggestFlag(flag: string, flagNames: readonly string[], words: readonly string[]): Hint | undefined {
  const [name = ""] = flag.split("=");
  if (/(?:api-?key|token|secret|password)$/i.test(name)) {
    return advise`No flag takes a key, since other users could see it; set ECM_API_KEY, or use: ${ecm`auth login --api-key-stdin`}`;
  }
  const suggested = flagNames.filter((each) => !neverSuggested.test(each));
  const candidates = findEntry(flagSuggestions, name.replace(/^--?/, "").toLowerCase()) ?? [];
  const fitting = candidates.find((each) => flagNames.includes(each.split(" ")[0]!));
  if (fitting) return `Use: ${fitting}`;
  const word = words.find((each) => each.split("-").includes(name.replace(/^--?/, "").toLowerCase()));
  if (word) return `Give it without a flag: ${word.toUpperCase()}`;
  if (!name.startsWith("--")) return undefined;
  // A letter left out is likelier than one taken for another: of two that are as near, the longer.
  const names = suggested.map((each) => each.slice(2)).sort((one, other) => other.length - one.length);
  const likely = findClosest(name.slice(2), names);
  return likely === undefined ? undefined : `Did you mean --${likely}?`;
}

/** Words where a command takes a flag, or fewer words. By the command's path. */
const surplusSuggestions: Record<string, Hint> = {
  "ecm contact create": advise`Name the contact with --key: ${ecm`contact create --key KEY`}`,
  "ecm contact get": advise`One contact at a time; for several: ${ecm`contact search --key KEY --key OTHER`}`,
  "ecm export": "Name the file with --output-file FILE, and contacts with --key KEY or --list LIST",
  "ecm import": "One file at a time; a name with blanks needs quotes",
  "ecm lists create": "A name with blanks needs quotes",
  "ecm lists rename": advise`A name with blanks needs quotes: ${ecm`lists rename LIST NAME`}`,
  "ecm lists duplicate": advise`A name with blanks needs quotes: ${ecm`lists duplicate LIST NAME`}`,
  "ecm lists list": advise`To see one list: ${ecm`lists show LIST`}`,
  "ecm campaigns list": advise`To see one campaign: ${ecm`campaigns get CAMPAIGN`}`,
  "ecm domains list": advise`To see one domain: ${ecm`domains get DOMAIN`}`,
  "ecm reports show": advise`For one campaign: ${ecm`reports campaign CAMPAIGN`}`,
  "ecm structure tag add": "A label with blanks needs quotes",
  "ecm structure field add": "A label with blanks needs quotes",
  "ecm structure list": advise`To see one structure: ${ecm`structure get STRUCTURE`}`,
  "ecm runs list": advise`To see one run: ${ecm`runs show RUN`}`,
  "ecm suppressions list": advise`To ask for one key: ${ecm`suppressions check KEY`}`,
  "ecm auth status": advise`To ask for another profile: ${ecm`auth status --profile NAME`}`,
  "ecm auth login": advise`To name the profile: ${ecm`auth login --profile NAME`}`,
};

/** What to say to more words than the command takes. @param path with `ecm` */
function suggestForSurplus(path: string): Hint | undefined {
  return findEntry(surplusSuggestions, path);
}

function findEntry<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Of a value that is not among the choices of its flag or argument, as commander says it. */
export function suggestChoice(message: string): string | undefined {
  const [, typed, choices] = /argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s.exec(message) ?? [];
  const likely = typed && choices && findClosest(typed, choices.split(", "));
  return likely ? `Did you mean ${likely}?` : undefined;
}
