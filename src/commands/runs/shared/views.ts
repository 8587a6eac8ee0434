/** How runs look: as rows for scripts, and as a story for people. */
import { basename } from "node:path";
import type { RunView } from "../../../bulk/index.ts";
import type { Column, View } from "../../../terminal/present.ts";

const empty = "No runs yet. Start one with: ecm import FILE";
const id = ({ run }: RunView) => run;

/** For scripts. */
const plain: Column<RunView>[] = [
  { name: "run", value: (run) => run.run, isWhole: true },
  { name: "kind", value: (run) => run.kind },
  { name: "status", value: (run) => run.status },
  { name: "file", value: (run) => run.file },
  { name: "started", value: (run) => run.startedAt, isTime: "minute" },
  { name: "done", value: (run) => run.done },
  { name: "rejected", value: (run) => run.rows?.rejected },
  { name: "pending", value: (run) => run.rows?.pending, isAside: true },
  { name: "stopped by", value: (run) => run.stoppedBy, optional: true },
  { name: "resumable", value: (run) => run.resumableAt, isTime: true, optional: true },
  { name: "base address", value: (run) => run.baseUrl, optional: true },
  { name: "folder", value: (run) => run.folder, optional: true },
];

/** Only with numbers: nobody looks for a nought. */
function outcome(name: "created" | "updated" | "deleted" | "unchanged" | "skipped"): Column<RunView> {
  return {
    name,
    value: ({ rows }) => rows?.[name] || undefined,
    isAside: name === "unchanged" || name === "skipped",
  };
}

const outcomes = [
  outcome("created"),
  outcome("updated"),
  outcome("deleted"),
  outcome("unchanged"),
  outcome("skipped"),
];
const account: Column<RunView> = {
  name: "account",
  value: ({ profile, baseUrl }) => profile ?? baseUrl.replace(/^https?:\/\//, ""),
  isAside: true,
};
const undone: Column<RunView> = {
  name: "undone",
  value: (run) => (run.undone === null ? undefined : run.undone === "whole" ? "yes" : "in part"),
};

/**
 * For people: what a run did, by the name of its file alone; of one that was never closed how far it came.
 */
const story: Column<RunView>[] = [
  named("run"),
  named("started"),
  named("kind"),
  { name: "file", value: ({ file }) => basename(file) },
  { ...named("status"), value: ({ status, waiting }) => (waiting ? describeWait(waiting) : status) },
  ...outcomes,
  { ...named("rejected"), value: ({ rows }) => rows?.rejected || undefined },
  undone,
  { ...named("done"), value: ({ rows, done }) => (rows ? undefined : done), isAside: true },
  account,
];

function named(name: string): Column<RunView> {
  return plain.find((column) => column.name === name)!;
}

const waitingUntil: Column<RunView> = {
  name: "waiting until",
  value: ({ waiting }) => waiting?.until,
  isTime: true,
};

/** `waiting until 18:08`: the next whole minute. */
export function describeWait({ until }: { until: string }): string {
  const at = new Date(Math.ceil(Date.parse(until) / 60_000) * 60_000);
  return `waiting until ${at.toTimeString().slice(0, 5)}`;
}

/** All columns of both; those of the other are shown when they are asked for. */
function viewFrom(shown: Column<RunView>[], others: Column<RunView>[]): View<RunView> {
  const more = others.filter(({ name }) => shown.every((column) => column.name !== name));
  return { columns: [...shown, ...more.map((column) => ({ ...column, optional: true }))], id, empty };
}

export const rowsForScripts = viewFrom(plain, [...outcomes, undone, account, waitingUntil]);
export const rowsForPeople = viewFrom(story, [...plain, waitingUntil]);

/** One run, with everything that is known of it. */
export const wholeRun: View<RunView> = {
  id,
  columns: [
    ...plain.map((column) => ({ ...column, optional: false })),
    { name: "requests without an answer", value: (run) => run.open },
    { name: "rejects file", value: (run) => run.rejects },
    waitingUntil,
  ],
};

/** The same as a story begins; its last lines follow. */
export const runForPeople: View<RunView> = {
  id,
  columns: [
    named("run"),
    named("kind"),
    { name: "file", value: ({ file }) => file },
    { name: "started", value: (run) => run.startedAt, isTime: true },
    {
      name: "account",
      value: ({ profile, baseUrl }) => (profile === null ? baseUrl : `${profile} (${baseUrl})`),
    },
    named("status"),
    undone,
    { ...named("folder"), optional: false },
  ],
};
