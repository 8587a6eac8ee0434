/**
 * `ecm apply`: a plan that was made earlier, perhaps elsewhere and by somebody else, carried out exactly as
 * it says. Each contact is looked up again; one that is no longer as the plan has it is not written.
 */

import { resolve } from "node:path";
import { statusParts } from "../../api/contacts.ts";
import { toStandInId } from "../../api/names.ts";
import { type EcmError, isKind, usageError } from "../../errors.ts";
import { restoreSelection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import { createIdentityReader } from "../../tables/index.ts";
import { TextIndex } from "../../text-index.ts";
import { replaceStandIns } from "../apply/apply-plan.ts";
import { asApproved } from "../decide.ts";
import type { Item } from "../desired.ts";
import { type NameBook, requireKeptNames } from "../plan/name-book.ts";
import { openPlanFile, type PlanFile, type PlanHead } from "../plan/plan-file.ts";
import { isPlanned } from "../plan/plan-line.ts";
import { noInput, type RunContext } from "../plan/session.ts";
import { computeFingerprint, isInPlanFolder } from "../runs/folder.ts";
import { type Job, type JobInput, keyTable, type OpenedJob, openAccount, openPlanned } from "./job.ts";
import { holdPlannedList } from "./sync.ts";

interface ApplyOptions {
  /** The plan's file. */
  input: JobInput;
  /** Where runs are kept: a plan that `ecm` keeps there for itself has no name that says anything. */
  stateFolder?: string;
  /** The digest of the plan that was approved. */
  digest?: string;
  /** The plan, where it was read already. */
  plan?: PlanFile;
}

/** @throws PlanDamagedError; UsageError for a plan that its guard has refused */
export async function applyJob({ input, stateFolder, digest, plan: read }: ApplyOptions): Promise<Job> {
  const plan = read ?? (await openPlanFile(input.path ?? input.name, digest));
  const { refused } = plan.end;
  if (refused !== undefined) {
    throw usageError(
      `${plan.path} was refused when it was made: ${refused}`,
      "Nothing was sent. To allow it, make the plan again with a larger guard",
      { type: "PlanRefusedError" },
    );
  }
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
  const { engine, subject } = context;
  const { head, end, path, creations } = plan;
  const { baseUrl, structureId, keyType } = head.account;
  if (baseUrl !== engine.account.baseUrl) throw otherAccountError(plan, engine.account.baseUrl);
  const account = openAccount(context, structureId);
  const own = await toOwnHead(account, plan);
  const contacts = await openPlanned(context, { head: own, creations }, account);
  await holdPlannedList(context, head);
  const { judging, names } = contacts;
  const toIdentity = createIdentityReader(keyType);
  return {
    about: {
      account: { baseUrl, profile: engine.account.profile, structureId },
      input: { name: subject, file: resolve(path), sha256: end.digest, bytes: 0 },
      fingerprint: computeFingerprint({ kind: "apply", digest: end.digest, baseUrl, structureId }),
      options: { digest: end.digest },
    },
    contacts: {
      ...contacts,
      judging: { ...judging, isSecondLook: true },
      input: { ...noInput, read: plan.writes },
      head: own,
      source: async () => ({
        entries: readApprovedItems(plan, names, toIdentity),
        stableEntries: plan.writes,
      }),
    },
  };
}

function otherAccountError({ path, head: { account: planned } }: PlanFile, baseUrl: string): EcmError {
  return usageError(
    planned.baseUrl === baseUrl
      ? `${path} is a plan for structure ${planned.structureId}, which this account does not have`
      : `${path} is a plan for ${planned.baseUrl}, and this is ${baseUrl}`,
    "Nothing was sent. Select the account that the plan was made for",
    { type: "PlanRefusedError" },
  );
}

/** The plan's own head, with what it takes to see whether its contacts are as they were. */
async function toOwnHead(account: Account, plan: PlanFile): Promise<PlanHead> {
  const { head, unsubscribes, deletes } = plan;
  // Another account may be behind the same address.
  const structure = await account.structure().catch((error: unknown) => {
    throw isKind(error, "not found") ? otherAccountError(plan, head.account.baseUrl) : error;
  });
  // Conditions that speak of another name by now could not be read: what has another name is said first.
  await requireKeptNames(plan, account);
  const selection = head.selection && (await restoreSelection(account, structure, head.selection));
  const needs = selection?.needs.filter((part) => part !== "_id" && part !== "key") ?? [];
  const isStatusNeeded = needs.some((part) => statusParts.includes(part));
  return {
    ...head,
    kind: "apply",
    looks: {
      by: "search",
      readsStatus: unsubscribes || deletes > 0 || isStatusNeeded,
      suppressions: "hold",
    },
    source: [...new Set([...head.source, ...needs, "createdAt"])],
    table: keyTable,
  };
}

async function* readApprovedItems(
  { creations, lines }: PlanFile,
  names: NameBook | undefined,
  toIdentity: (key: string) => string,
): AsyncGenerator<Item[]> {
  // What the plan creates and the account has by now.
  const missing = new Set(names?.creations.map(toStandInId));
  const existing = creations.filter((each) => !missing.has(toStandInId(each)));
  const ids = new Map(existing.map((each) => [toStandInId(each), names!.toId(each)]));
  const written = new TextIndex();
  for await (const { apply, line, key } of lines()) {
    if (!isPlanned(apply)) continue;
    const { ref, isRemoval } = apply;
    const { desired, before } = replaceStandIns(apply, ids);
    const sent = before ? key : apply.key.sent;
    const keys = { written: key, sent, identity: toIdentity(sent) };
    const marks = [keys.identity, ...(before ? [before.id] : [])];
    // Once an earlier line is written, the contact is not as this one has it.
    const isRepeated = marks.some((mark) => written.has(mark));
    for (const mark of marks) written.add(mark);
    const approved = isRepeated ? { skip: "changed" } : asApproved(desired, before);
    yield [{ ref, line, key: keys, cells: [key], desired: approved, contactId: before?.id, isRemoval }];
  }
}
