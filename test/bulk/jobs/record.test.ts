/** What a run keeps of its job makes the same job again: for a resume before the plan is closed, and for a retry. */
import { expect, it } from "vitest";
import type { EditOptions } from "../../../src/bulk/jobs/edit.ts";
import type { ImportOptions } from "../../../src/bulk/jobs/import.ts";
import type { Job, OpenedJob } from "../../../src/bulk/jobs/job.ts";
import { jobs, restoreJob } from "../../../src/bulk/jobs/run.ts";
import type { SyncOptions } from "../../../src/bulk/jobs/sync.ts";
import type { Session } from "../../../src/bulk/plan/session.ts";
import type { Manifest } from "../../../src/bulk/runs/folder.ts";
import type { ColumnTarget } from "../../../src/tables/rows.ts";
import { inputFile } from "../kit.ts";
import { openSteps, startAdasAccount } from "../steps-kit.ts";

const imported: Omit<ImportOptions, "input"> = {
  read: {
    map: new Map<string, ColumnTarget>(
      Object.entries({ Town: "City", Tags: { target: "tags", split: ";" } }),
    ),
    set: [["City", "Rome"]],
  },
  mode: "update",
  blank: "clear",
  duplicates: "first",
  lists: ["News"],
  tags: [],
  createMissing: false,
  includeUnsubscribed: true,
  includeSuppressed: true,
};
const edited: EditOptions = { kind: "mutate", wanted: { set: ["City=Rome"] } };
const conditions = { list: ["News"], where: 'City == "Oslo"' };
const merged: EditOptions = {
  kind: "mutate",
  command: ["lists", "merge"],
  title: '"News" into "All"',
  conditions: { list: ["News"] },
  wanted: { newList: "All" },
  after: [{ _id: "6b01ef0b2f5df91e78000001", name: "News", ifAllIn: "All" }],
};
const synced: Omit<SyncOptions, "input"> = { list: "News", create: true, includeSuppressed: true };

type RunAbout = OpenedJob["about"];
type Input = { name: string; path: string };

const cases: [name: string, text: string, state: (input: Input) => Job | Promise<Job>][] = [
  ["import", "Email,Town,Tags\nada@example.com,Rome,\n", (input) => jobs.import({ ...imported, input })],
  ["a mutate of a file", "Email\nada@example.com\n", (input) => jobs.mutate({ ...edited, input })],
  [
    "an unsubscription of all rows",
    "Email,Subscribed\nada@example.com,no\nbo@example.com,yes\n",
    (input) => jobs.unsubscribe({ kind: "unsubscribe", rows: "all", input }),
  ],
  ["a deletion", "ada@example.com\n", (input) => jobs.delete({ kind: "delete", isPlain: true, input })],
  ["a mutate over conditions", "", () => jobs.mutate({ ...edited, conditions })],
  ["a merge of lists", "", () => jobs.mutate(merged)],
  ["a sync", "Email\nada@example.com\n", (input) => jobs.sync({ ...synced, input })],
];
it.each(cases)("a job that is made from the record of its run is the same: %s", async (_, text, state) => {
  const { service } = await startAdasAccount();
  const { session } = await openSteps(service);
  const path = await inputFile(text);
  const stated = await state({ name: "people.csv", path });
  const about = await openJob(stated, session, path);
  const restored = await restoreJob(keep(stated, about));
  const basics = ({ kind, readsInput, input }: Job) => [kind, readsInput, input.name];
  expect(basics(restored)).toEqual(basics(stated));
  expect(await openJob(restored, session, path)).toEqual(about);
});

it("a job that is made from the record of its run is an undo of the run that it names", async () => {
  const job = jobs.undo({ run: "20261121-1402-aaaaaa", deletesCreated: true });
  expect(job).toMatchObject({ kind: "undo", readsInput: false, input: { name: "20261121-1402-aaaaaa" } });
});

async function openJob(job: Job, session: Session, path: string): Promise<RunAbout> {
  const context = { ...session, kind: job.kind, subject: job.input.name };
  const file = { path: job.readsInput ? path : "", name: "people.csv", scratch: `${path}.unpacked` };
  const { about } = await job.open(context, file);
  for (const lease of context.leases.splice(0)) await lease.release();
  return about;
}

/** As the manifest has it on the disk. */
function keep(job: Job, about: RunAbout): Manifest {
  const input = { ...about.input, isSpooled: false };
  const run = { version: 1, id: "20261124-0000-aaaaaa", program: "0.0.0", startedAt: "2026-11-24T00:00:00Z" };
  return JSON.parse(JSON.stringify({ ...run, ...about, kind: job.kind, input })) as Manifest;
}
