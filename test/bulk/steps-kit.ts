/**
 * The plan step and the apply step each on their own, against the real service: for tables of one contact.
 */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { statusParts } from "../../src/api/contacts.ts";
import type { Desired, Item } from "../../src/bulk/desired.ts";
import { createSuppressionRules, type SuppressionRules } from "../../src/bulk/plan/judge.ts";
import { Lookup, type LookupOptions } from "../../src/bulk/plan/lookup.ts";
import { makePlan } from "../../src/bulk/plan/make-plan.ts";
import { type PlanHead, PlanWriter } from "../../src/bulk/plan/plan-file.ts";
import { openContext, type Session } from "../../src/bulk/plan/session.ts";
import { enterRun } from "../../src/bulk/runs/enter.ts";
import { fileNames, makeRunFolder } from "../../src/bulk/runs/folder.ts";
import { type JournalRecord, readJournal } from "../../src/bulk/runs/journal.ts";
import { realClock } from "../../src/clock.ts";
import { describeReason, missingNamesError } from "../../src/commands/bulk/words.ts";
import { createBehavior } from "../../src/service/behavior.ts";
import { KeySearch } from "../../src/service/key-search.ts";
import { NamesCache } from "../../src/service/names-cache.ts";
import { Suppressions } from "../../src/suppressions/suppressions.ts";
import type { Contact } from "../../src/wire.ts";
import { call, planHead, type RunningSandbox, startSandbox, temporaryFolder } from "../kit.ts";
import { createSendTo } from "../support/test-send.ts";

export interface Steps {
  session: Session;
  /** Where the run keeps its plan. */
  plan: string;
  structureId: string;
  /** What the journal says, without the start of the run. */
  journal(): Promise<JournalRecord[]>;
}

/** What an engine is given besides its line, for a run that nobody else has to do with. */
export function createSurroundings(stateFolder: string) {
  const behavior = createBehavior();
  return {
    stateFolder,
    requestsSent: () => 0,
    openSuppressions: async () => new Suppressions(join(stateFolder, "suppressions.txt")),
    behaviors: () => behavior,
    names: new NamesCache(),
    describeReason,
    missingNamesError,
  };
}

/** Parts of a contact that are looked up. */
const source = ["fields", "lists", "tags", ...statusParts];
const looks: PlanHead["looks"] = { by: "search", suppressions: "pass-over" };
const toIdentity = (key: string): string => key.toLowerCase();

/** A run that was entered, with requests one after another. */
export async function openSteps(
  service: RunningSandbox,
  suppression: SuppressionRules = createSuppressionRules(),
  looksUp: Partial<LookupOptions> = {},
): Promise<Steps> {
  const { baseUrl, apiKey } = service;
  const { signal } = new AbortController();
  const [clock, stateFolder] = [realClock, await temporaryFolder()];
  const patience = { timeoutSeconds: 30, maxWaitSeconds: 0 };
  const { send } = await createSendTo(baseUrl, { apiKey, clock, signal, ...patience }, "bulk");
  const { structureId } = service.sandbox;
  const place = await makeRunFolder(stateFolder, clock.now());
  const context = openContext({
    place,
    kind: "import",
    subject: "people.csv",
    engine: {
      ...createSurroundings(stateFolder),
      send,
      clock,
      signal,
      version: "0.0.0",
      account: { baseUrl, isReadOnly: false },
    },
    options: { reserve: 0, waits: false, isDryRun: false, isFresh: false, concurrency: 1 },
    emit: () => undefined,
  });
  const run = await enterRun({
    stateFolder,
    now: clock.now(),
    isFresh: false,
    place,
    leases: context.leases,
    remark: () => undefined,
    about: {
      kind: "import",
      program: "0.0.0",
      account: { baseUrl, structureId },
      input: { name: "people.csv", file: "/people.csv", isSpooled: false, sha256: "00", bytes: 1 },
      fingerprint: "00",
      options: {},
    },
  });
  onTestFinished(async () => {
    await run.journal.close();
    for (const lease of context.leases) await lease.release();
  });
  const behavior = createBehavior();
  const keys = new KeySearch({ send: context.send.searches, behavior, structureId, toIdentity });
  const lookup = new Lookup({
    send: context.send,
    clock,
    keys,
    structureId,
    keyType: "email",
    source,
    behavior,
    ...looksUp,
  });
  return {
    session: {
      ...context,
      run,
      ledger: run.ledger,
      input: { read: 1, skipped: {}, rejected: {} },
      judging: { structureId, looks, suppression, describe: describeReason },
      lookup,
    },
    plan: join(run.folder, fileNames.plan),
    structureId,
    async journal() {
      await run.journal.sync();
      const records: JournalRecord[] = [];
      for await (const { record } of readJournal(join(run.folder, fileNames.journal))) {
        if (record.kind !== "start") records.push(record);
      }
      return records;
    },
  };
}

export interface Ada {
  service: RunningSandbox;
  /** Of the contact, and of the field City. */
  id: string;
  city: string;
}

/** An account with one contact, ada@example.com, whose City is Oslo. */
export async function startAdasAccount(): Promise<Ada> {
  const service = await startSandbox({
    contents: {
      fields: ["City"],
      lists: ["News"],
      contacts: [{ key: "ada@example.com", fields: { City: "Oslo" } }],
    },
  });
  const [ada] = await call<[Contact]>(service, "GET", "/api/contact");
  return { service, id: ada._id, city: ada.fields![0]!._id };
}

/** A row of a file, and what it wants. */
export function row(key: string, desired: Partial<Desired>, ref = 2): Item {
  return {
    ref,
    line: ref,
    key: { written: key, sent: key, identity: toIdentity(key) },
    cells: [key],
    desired: { values: [], absent: "create", present: "change", mayJoinLists: true, ...desired },
  };
}

/** The number of the newest request. */
export const lastRequest = ({ sandbox }: RunningSandbox): number => sandbox.admin.requests().at(-1)!.n;

/**
 * What was requested since, and how it was answered: `PUT
 * /contact/:id/mutate 200`; `lost` where no answer came.
 */
export function requestsSince({ sandbox }: RunningSandbox, id: number): string[] {
  return sandbox.admin.requests({ since: id }).map(({ method, path, status, fault }) => {
    const maskedPath = path.replace("/api", "").replace(/[0-9a-f]{24}/g, ":id");
    return `${method} ${maskedPath} ${fault ?? status}`;
  });
}

/** The plan of these rows as the account is now, closed. */
export async function planRows({ session, plan, structureId }: Steps, rows: readonly Item[]): Promise<void> {
  const account = { baseUrl: session.engine.account.baseUrl, structureId, keyType: "email" };
  const head: PlanHead = { ...planHead, account, input: null, source, looks };
  const writer = PlanWriter.create(plan, head, []);
  await makePlan({ session, entries: [rows], writer, names: head.names, isComplete: true });
  writer.close(session.input);
}
