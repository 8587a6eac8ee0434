/**
 * `ecm apply`: a plan that was made earlier, perhaps elsewhere and by somebody else, carried out exactly as
 * it says. Each contact is looked up again; one that is no longer as the plan has it is not written.
 */

import { resolve } from "node:path";
import { statusParts } from "../../api/contacts.ts";
import { type EcmError, isKind, usageError } from "../../errors.ts";
import { restoreSelection } from "../../select/selection.ts";
import { createIdentityReader } from "../../tables/index.ts";
import { replaceStandIns } from "../apply/apply-plan.ts";
import { asApproved } from "../decide.ts";
import type { Item } from "../items.ts";
import { type NameBook, openPlannedNames, requireKeptNames, toStandInId } from "../plan/names.ts";
import { findPlanRemovalFailure } from "../plan/numbers.ts";
import { type Looks, openPlanFile, type PlanFile, type PlanHead } from "../plan/plan-file.ts";
import { type ExportedLine, isPlanned, type Planned } from "../plan/plan-line.ts";
import type { Engine, RunContext, RunOptions } from "../plan/session.ts";
import { computeFingerprint, isInPlanFolder } from "../runs/folder.ts";
import { noInput } from "./finish.ts";
import {
  type ContactsToPlan,
  type Job,
  type JobInput,
  type OpenedJob,
  openAccount,
  openJudging,
  type RunAbout,
  readForBackup,
} from "./job.ts";
import { keyTableFacts } from "./rejects.ts";

export interface ApplyOptions {
  /** The plan's file. */
  input: JobInput;
  /** Where runs are kept: a plan that `ecm` keeps there for itself has no name that says anything. */
  stateFolder?: string;
  /** Of the plan that was approved. */
  digest?: string;
  /** The plan, where it was read already. */
  plan?: PlanFile;
}

/** @throws PlanDamagedError */
export async function applyJob({ input, stateFolder, digest, plan: read }: ApplyOptions): Promise<Job> {
  const plan = read ?? (await openPlanFile(input.path ?? input.name, digest));
  const isOwn = stateFolder !== undefined && isInPlanFolder(stateFolder, plan.path);
  return {
    kind: "apply",
    applies: plan.head.kind,
    input: isOwn ? { name: `plan (${plan.head.kind})`, path: plan.path } : input,
    readsInput: false,
    open: (context) => openPlan(context, plan),
  };
}

/** @throws UsageError for a plan of another account */
async function openPlan(context: RunContext, plan: PlanFile): Promise<OpenedJob> {
  const { engine, options, emit } = context;
  requireMatchingPlan(plan, engine);
  const head = allowRemovals(plan.head, options);
  const refusal = findPlanRemovalFailure({ ...plan, head });
  if (refusal && !options.isDryRun) throw refusal;
  if (refusal) emit({ kind: "remark", remark: { code: "would_be_refused", failure: refusal } });
  return {
    about: describeApplyRun(context, plan),
    contacts: await openContacts(context, head, plan),
  };
}

/** What was allowed when the plan was made, unless something else is allowed now. */
function allowRemovals(head: PlanHead, { guards }: RunOptions): PlanHead {
  const { removals } = head;
  if (!removals || guards?.maxRemove === undefined) return head;
  return { ...head, removals: { ...removals, allowed: guards.maxRemove } };
}

function describeApplyRun(
  { engine: { account }, subject }: RunContext,
  { path, head, end }: PlanFile,
): RunAbout {
  const { baseUrl, structureId } = head.account;
  return {
    account: { baseUrl, profile: account.profile, structureId },
    input: { name: subject, file: resolve(path), sha256: end.digest, bytes: 0 },
    fingerprint: computeFingerprint({ kind: "apply", digest: end.digest, baseUrl, structureId }),
    options: { digest: end.digest, applies: head.kind },
  };
}

function requireMatchingPlan(plan: PlanFile, engine: Engine): void {
  if (plan.head.account.baseUrl !== engine.account.baseUrl) throw otherAccountError(plan, engine);
}

function otherAccountError({ path, head: { account: planned } }: PlanFile, { account }: Engine): EcmError {
  const isSameAddress = planned.baseUrl === account.baseUrl;
  return usageError(
    isSameAddress
      ? `${path} is a plan for structure ${planned.structureId}, which this account does not have`
      : `${path} is a plan for ${planned.baseUrl}, and this is ${account.baseUrl}`,
    "Nothing was sent. Select the account that the plan was made for",
    { type: "PlanRefusedError" },
  );
}

async function openContacts(context: RunContext, head: PlanHead, plan: PlanFile): Promise<ContactsToPlan> {
  const { engine, send } = context;
  const account = openAccount(context, head.account.structureId);
  // Another account may be behind the same address.
  const structure = await account.structure().catch((error: unknown) => {
    throw isKind(error, "not found") ? otherAccountError(plan, engine) : error;
  });
  await requireKeptNames(plan, account);
  if (plan.deletes > 0) await readForBackup(account);
  const selection = head.selection && (await restoreSelection(account, structure, head.selection));
  const needs = selection?.needs.filter((part) => part !== "_id" && part !== "key") ?? [];
  const source = [...new Set([...head.source, ...needs, "createdAt"])];
  const isStatusNeeded = needs.some((part) => statusParts.includes(part));
  const looks: Looks = {
    by: "search",
    readsStatus: plan.unsubscribes || plan.deletes > 0 || isStatusNeeded,
    suppressions: "hold",
  };
  const listIds = [...new Set([...head.listIds, ...(head.selection?.lists ?? [])])];
  const description = { ...head, kind: "apply", looks, source, listIds, table: keyTableFacts };
  const { judging, lookup } = await openJudging(context, account, head.account, description);
  const { creations } = plan;
  const names = await openPlannedNames({ send: send.plain, account, creations });
  return {
    account,
    judging: { ...judging, isSecondLook: true },
    lookup,
    input: { ...noInput, read: plan.writes },
    names,
    head: description,
    async source() {
      const entries = readApprovedItems(
        plan,
        findExistingIds(plan, names),
        createIdentityReader(head.account.keyType),
      );
      return { entries, stableEntries: plan.writes };
    },
  };
}

/** What the plan creates and the account has by now: stand-in → id. */
function findExistingIds({ creations }: PlanFile, names: NameBook): ReadonlyMap<string, string> {
  const missing = new Set(names.creations.map(toStandInId));
  const existing = creations.filter((each) => !missing.has(toStandInId(each)));
  return new Map(existing.map((each) => [toStandInId(each), names.toId(each)]));
}

async function* readApprovedItems(
  plan: PlanFile,
  ids: ReadonlyMap<string, string>,
  toIdentity: (key: string) => string,
): AsyncGenerator<Item[]> {
  for await (const { apply, line, key } of plan.lines()) {
    if (!isPlanned(apply)) continue;
    yield [toApplyItem({ line, key }, { ...apply, ...replaceStandIns(apply, ids) }, toIdentity)];
  }
}

function toApplyItem(
  { line, key }: Pick<ExportedLine, "line" | "key">,
  { ref, key: forms, desired, before, isRemoval }: Planned,
  toIdentity: (key: string) => string,
): Item {
  const sent = before ? key : forms.sent;
  return {
    ref,
    line,
    key: { written: key, sent, identity: toIdentity(sent) },
    cells: [key],
    desired: asApproved(desired, before),
    contactId: before?.id,
    isRemoval,
  };
}
