/** Which run a command means, the account that it belongs to, and how runs are shown. */

import { basename } from "node:path";
import type { Manifest, RunView, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Column, View } from "../../terminal/present.ts";
import type { Choice } from "../../terminal/prompts.ts";
import { type MissingArgument, requireChoice, requireChoices } from "../flags/questions.ts";
import { commandOnRun } from "../help/command-line.ts";

/** The run that was named, else the one that a person chooses. @param fits whether the command can use it */
export async function requireRun(
  context: Context,
  typedRun: string | undefined,
  verb: string,
  fits: (run: StoredRun) => boolean = () => true,
): Promise<StoredRun> {
  const choices = () => listRunChoices(context, fits);
  return findNamedRun(context, await requireChoice(context, typedRun, createMissingRun(verb), choices));
}

export function requireRuns(context: Context, typedRuns: string[], verb: string): Promise<string[]> {
  const choices = () => listRunChoices(context, () => true);
  return requireChoices(context, typedRuns, createMissingRun(verb), choices);
}

function createMissingRun(verb: string): MissingArgument {
  return { what: `Run to ${verb}`, usage: advise`${ecm`runs ${verb} RUN`}, or last` };
}

async function listRunChoices(
  context: Context,
  fits: (run: StoredRun) => boolean,
): Promise<Choice<string>[]> {
  const { viewRun } = await import("../../bulk/index.ts");
  const views = await Promise.all((await readRuns(context)).filter(fits).map(viewRun));
  return views.map(({ run, kind, file, status }) => ({
    ...{ name: `${run}  ${kind} of ${basename(file)}, ${status}`, short: run, value: run },
  }));
}

/** Those that can be read, the newest first; of the others a warning names the folder. */
export async function readRuns({ folders, terminal }: Context): Promise<StoredRun[]> {
  const { listRuns } = await import("../../bulk/index.ts");
  return listRuns(folders.state, ({ message }) => terminal.warn(message));
}

export async function findNamedRun({ folders }: Context, idOrLast: string): Promise<StoredRun> {
  const { findRun } = await import("../../bulk/index.ts");
  return findRun(folders.state, idOrLast);
}

/** @param command that was typed @throws UsageError when the run belongs to another account */
export async function requireSameAccount(
  context: Context,
  { id, account }: Manifest,
  command: string,
): Promise<void> {
  const { accountAddress } = await context.profile();
  if (account.baseUrl === accountAddress) return;
  throw usageError(
    `Run ${id} belongs to ${account.baseUrl}, and this is ${accountAddress}`,
    advise`Select that account: ${await commandOnRun(context, account, ecm`${command.split(" ")} ${id}`)}`,
  );
}

// How runs look.

/** @param isRead by people: names of files alone, no noughts, and until when a run waits */
function createColumns(isRead: boolean): Column<RunView>[] {
  const count = (name: keyof NonNullable<RunView["rows"]>): Column<RunView> => ({
    name,
    value: ({ rows }) => (isRead ? rows?.[name] || undefined : rows?.[name]),
    isAside: ["unchanged", "skipped", "pending"].includes(name),
  });
  return [
    { name: "run", value: ({ run }) => run, isWhole: true },
    { name: "started", value: ({ startedAt }) => startedAt, isTime: "minute" },
    { name: "kind", value: ({ kind }) => kind },
    { name: "file", value: ({ file }) => (isRead ? basename(file) : file) },
    {
      name: "status",
      value: ({ status, waiting }) => (isRead && waiting ? describeWait(waiting) : status),
    },
    ...(["created", "updated", "deleted", "unchanged", "skipped", "rejected", "pending"] as const).map(count),
    // The outcomes of a run that was closed say it.
    { name: "done", value: ({ rows, done }) => (isRead && rows ? undefined : done), isAside: true },
    {
      name: "account",
      value: ({ profile, baseUrl }) => profile ?? baseUrl.replace(/^https?:\/\//, ""),
      isAside: true,
    },
    { name: "stopped by", value: ({ stoppedBy }) => stoppedBy, optional: true },
    { name: "resumable", value: ({ resumableAt }) => resumableAt, isTime: true, optional: true },
    { name: "waiting until", value: ({ waiting }) => waiting?.until, isTime: true, optional: true },
    { name: "requests without an answer", value: ({ open }) => open, optional: true },
    { name: "rejects file", value: ({ rejects }) => rejects, optional: true },
    { name: "base address", value: ({ baseUrl }) => baseUrl, optional: true },
    { name: "folder", value: ({ folder }) => folder, optional: true },
  ];
}

const id = ({ run }: RunView) => run;

export function createRunsView(isRead: boolean): View<RunView> {
  const empty = "No runs yet. Start one with: ecm import FILE";
  return { columns: createColumns(isRead), id, empty };
}

/** What people read of one run in its table: its last lines say the rest. */
const shownOfOne = ["run", "kind", "file", "started", "status", "base address", "folder"];

export function createRunView(isRead: boolean): View<RunView> {
  const columns = createColumns(false).map((column) => ({
    ...column,
    optional: isRead && !shownOfOne.includes(column.name),
  }));
  return { columns, id };
}

/** `waiting until 18:08`: the next whole minute. */
export function describeWait({ until }: { until: string }): string {
  const at = new Date(Math.ceil(Date.parse(until) / 60_000) * 60_000);
  return `waiting until ${at.toTimeString().slice(0, 5)}`;
}
