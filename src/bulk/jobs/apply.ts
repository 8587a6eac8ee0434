/**
 * `ecm apply`: a plan that was made earlier, perhaps elsewhere and by somebody else, carried out exactly as
 * it says. Each contact is looked up again; one that is no longer as the plan has it is not written.
 */

import { resolve } from "node:path";
import { statusParts } from "../../api/contacts.ts";
import { type EcmError, isKind, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import { restoreSelection } from "../../select/selection.ts";
import { createIdentityReader } from "../../tables/index.ts";
import { replaceStandIns } from "../apply/apply-plan.ts";
import { asApproved } from "../decide.ts";
import type { Item } from "../items.ts";
import { type NameBook, openPlannedNames, requireKeptNames, toStandInId } from "../plan/names.ts";
import { findPlanRemovalFailure } from "../plan/numbers.ts";
import { openPlanFile, type PlanFile, type PlanHead } from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import type { Engine, RunContext } from "../plan/session.ts";
import { computeFingerprint, type GuardOptions, isInPlanFolder } from "../runs/folder.ts";
import { noInput } from "./finish.ts";
import {
  type ContactsToPlan,
  type Job,
  type JobInput,
  type OpenedJob,
  openAccount,
  openJudging,
  readForBackup,
} from "./job.ts";
import { keyTableFacts } from "./rejects.ts";
import { holdPlannedList } from "./sync.ts";

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
    input: isOwn ? { name: `plan (${plan.head.kind})`, path: plan.path } : input,
    readsInput: false,
    open: (context) => openPlan(context, plan),
  };
}

/** @throws UsageError for a plan of another account */
async function openPlan(context: RunContext, plan: PlanFile): Promise<OpenedJob> {
  const { engine, options, emit, subject } = context;
  const { head, end, path } = plan;
  const { baseUrl, structureId } = head.account;
  if (baseUrl !== engine.account.baseUrl) throw otherAccountError(plan, engine);
  // What was allowed when the plan was made, unless something else is allowed now.
  const allowed = options.guards?.maxRemove ?? head.removals?.allowed;
  const own = { ...head, removals: head.removals && { ...head.removals, allowed } };
  const failure = findRefusal(plan, options.guards) ?? findPlanRemovalFailure({ ...plan, head: own });
  if (failure && !options.isDryRun) throw failure;
  if (failure) emit({ kind: "remark", remark: { code: "would_be_refused", failure } });
  return {
    about: {
      account: { baseUrl, profile: engine.account.profile, structureId },
      input: { name: subject, file: resolve(path), sha256: end.digest, bytes: 0 },
      fingerprint: computeFingerprint({ kind: "apply", digest: end.digest, baseUrl, structureId }),
      options: { digest: end.digest },
    },
    contacts: await openContacts(context, own, plan),
    ...(await holdPlannedList(context, head)),
  };
}

/** Why a plan that its guards refused is not applied, unless a guard of this command allows it. */
function findRefusal({ path, end: { refused } }: PlanFile, guards: GuardOptions = {}): EcmError | undefined {
  if (refused === undefined || guards.maxChanges || guards.maxDelete) return undefined;
  return usageError(
    `${path} was refused when it was made: ${refused}`,
    advise`Nothing was written. Look at it: ${ecm`plan show ${toOperands(path)}`}; to allow it, pass --max-changes or --max-delete`,
    { type: "PlanRefusedError" },
  );
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
  const account = openAccount(context, head.account.structureId);
  // Another account may be behind the same address.
  const structure = await account.structure().catch((error: unknown) => {
    throw isKind(error, "not found") ? otherAccountError(plan, context.engine) : error;
  });
  await requireKeptNames(plan, account);
  if (plan.deletes > 0) await readForBackup(account);
  const selection = head.selection && (await restoreSelection(account, structure, head.selection));
  const needs = selection?.needs.filter((part) => part !== "_id" && part !== "key") ?? [];
  const isStatusNeeded = needs.some((part) => statusParts.includes(part));
  const description = {
    ...head,
    kind: "apply",
    looks: {
      by: "search" as const,
      readsStatus: plan.unsubscribes || plan.deletes > 0 || isStatusNeeded,
      suppressions: "hold" as const,
    },
    source: [...new Set([...head.source, ...needs, "createdAt"])],
    table: keyTableFacts,
  };
  const { judging, lookup } = await openJudging(context, account, head.account, description);
  const names = await openPlannedNames({ send: context.send.plain, account, creations: plan.creations });
  return {
    account,
    judging: { ...judging, isSecondLook: true },
    lookup,
    input: { ...noInput, read: plan.writes },
    names,
    head: description,
    source: async () => ({ entries: readApprovedItems(plan, names), stableEntries: plan.writes }),
  };
}

async function* readApprovedItems(plan: PlanFile, names: NameBook): AsyncGenerator<Item[]> {
  const { creations, head } = plan;
  const toIdentity = createIdentityReader(head.account.keyType);
  // What the plan creates and the account has by now.
  const missing = new Set(names.creations.map(toStandInId));
  const existing = creations.filter((each) => !missing.has(toStandInId(each)));
  const ids = new Map(existing.map((each) => [toStandInId(each), names.toId(each)]));
  for await (const { apply, line, key } of plan.lines()) {
    if (!isPlanned(apply)) continue;
    const { ref, isRemoval } = apply;
    const { desired, before } = replaceStandIns(apply, ids);
    const sent = before ? key : apply.key.sent;
    const wanted = asApproved(desired, before);
    const keys = { written: key, sent, identity: toIdentity(sent) };
    yield [{ ref, line, key: keys, cells: [key], desired: wanted, contactId: before?.id, isRemoval }];
  }
}
