/** What the bulk engine says, in words. */
import type { CodedReason, MarkedAre, Reject, RunRemark } from "../../bulk/index.ts";

export function describeRemark(remark: RunRemark): string {
  switch (remark.code) {
    case "would_be_refused":
      return describeRefusal(remark.failure);
    case "cut_off":
      return "warning: The file seems to be cut off in its last row: nobody is taken out of the list, since those that came after it are not known";
    case "input_changed":
      return `${remark.file} has changed since the run began: the run carries out its plan, which was made of the earlier file`;
    case "account_changed":
      return "The account changed while it was read; contacts that were added or removed in the meantime may be missing";
    case "run_unreadable":
      return `warning: ${remark.failure.message}`;
    case "took_over":
      return `Took over the run from ${remark.whose}`;
    case "recreates":
      return "Recreated contacts get new ids; their history and date of creation are lost";
    case "partly_proven": {
      const of = remark.of === undefined ? "" : ` of ${remark.of}`;
      return `The journal of run ${remark.run} is damaged: ${remark.proven}${of} changes can still be read; the rest will not be undone`;
    }
    case "no_rejects_file":
      return `No rejects file: ${remark.failure.message}`;
    case "rejects_file_elsewhere":
      return `--rejects: ${remark.file} cannot be written`;
    case "rejects_in_run_only":
      return `Rejected rows are in the run's folder alone: ${describeWhyAlone(remark)}`;
  }
}

function describeWhyAlone({ folder, failure }: Extract<RunRemark, { code: "rejects_in_run_only" }>): string {
  if (failure) return failure.message;
  return folder === undefined ? "standard input has no folder" : `nothing can be written to ${folder}`;
}

/** How a dry run says that the real run would be refused. */
export function describeRefusal({ message }: Error): string {
  return `A real run would be refused: ${message}`;
}

/** Nothing to be warned of: `--quiet` leaves it out. */
export function isAside(remark: RunRemark): boolean {
  if (remark.code === "rejects_in_run_only") return remark.failure === undefined;
  return remark.code === "took_over" || remark.code === "recreates";
}

/** What becomes of those whom a file marks as not subscribed. */
export const markedAre: Readonly<Record<MarkedAre, string>> = {
  imported: "imported like any other (--include-unsubscribed)",
  added: "added like any other (--include-unsubscribed)",
  added_to_no_list: "added to no list",
  not_created: "not created",
  not_added: "not added to the list",
  not_added_nor_created: "not added to the list, and not created",
  chosen: "chosen",
  not_chosen: "not chosen",
};

const reasons: Readonly<Record<string, string>> = {
  not_found: "no contact has this key",
  gone: "the contact no longer exists",
  created: "the run created this contact; it stays without --delete-created",
  changed_since: "the run created this contact, and it was changed since; it stays",
  not_active: "the contact was not active when it was deleted; it is not recreated",
  unsubscribed: "contacts cannot be reactivated through the API",
  unproven: "the journal is damaged: check by hand whether the run changed this contact",
  keeps_changing: "the contact keeps changing while it is being written",
};

/** Why a contact was not written, or not all of it. Plans, journals and rejects files keep these sentences. */
export function describeReason({ code, takesIds, parts, line }: CodedReason): string {
  if (parts) return `not restored: ${parts.map(formatPart).join(", ")}`;
  if (line !== undefined) return `the contact is on line ${line} too`;
  if (takesIds) return "no contact has this key or id";
  return reasons[code] ?? "";
}

/** `field "City"`, or its id where the name is not known. */
function formatPart({ what, id, name }: NonNullable<CodedReason["parts"]>[number]): string {
  return `${what} ${name === id ? id : JSON.stringify(name)}`;
}

/** More of a value is cut off where people read it. */
const maxCharacters = 60;

/** A rejected row as people read it: where, what stood there, and why. */
export interface ShownReject {
  line: number;
  value: string;
  code: string;
  why: string;
}

export function toShownReject({ line, value, code, message }: Omit<Reject, "row">): ShownReject {
  const isLong = value.length > maxCharacters;
  return {
    line,
    value: isLong ? `${value.slice(0, maxCharacters - 1)}…` : value,
    code,
    why: withoutEnd(message, `: ${value}`),
  };
}

/** What is beside it already is not said twice. */
function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}
