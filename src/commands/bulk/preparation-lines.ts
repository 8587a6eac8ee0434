/** What is said before a run's first write: names that it creates, rows of one contact, its price. */
import {
  describeDoubts,
  type MissingName,
  type MissingNames,
  type Price,
  type RunEvent,
} from "../../bulk/index.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { formatConsent } from "./consent-lines.ts";
import { formatAboutDuration, formatShare } from "./format.ts";
import { describeRowsNote } from "./reading-lines.ts";
import { markedAre } from "./words.ts";

/** What a run would make or makes, and which of it may not be meant. */
export function describeMissingNames(missing: MissingNames): string[] {
  const fields = missing.fields.map(({ label }) => ({ name: label }));
  const createdParts = [
    describeCreated("field", fields),
    describeCreated("list", missing.lists),
    describeCreated("tag", missing.tags),
  ].filter((part) => part !== "");
  return createdParts.length === 0
    ? []
    : [`New in the account: ${createdParts.join(", ")}`, ...describeDoubts(missing)];
}

function describeCreated(kind: string, names: MissingName[]): string {
  if (names.length === 0) return "";
  const quotedNames = names.map(({ name }) => JSON.stringify(name)).join(", ");
  return `${kind}${names.length > 1 ? "s" : ""} ${quotedNames}`;
}

type Surveyed = Pick<
  Extract<RunEvent, { kind: "surveyed" }>,
  "survey" | "joined" | "notSubscribedAre" | "unclearAre"
>;
type JoinedRows = Extract<RunEvent, { kind: "surveyed" }>["joined"];

/** What becomes of the rows of one contact, by `--duplicates`. */
const fates: Record<JoinedRows["how"], string> = {
  merge: "merged",
  first: "the first line counts",
  last: "the last line counts",
  reject: "the first line counts, the others are rejected",
};

/** Says what looks odd, which rows are one contact, and what was read of consent. */
export function noteSurvey(
  {
    survey: { notes, unknownCells, consent, read },
    joined,
    notSubscribedAre: marked,
    unclearAre: unclear,
  }: Surveyed,
  note: (line: string, kind?: "needed") => void,
): void {
  const become = { marked: markedAre[marked], unclear: unclear && markedAre[unclear] };
  for (const each of unknownCells) note(`warning: ${describeRowsNote(each)}`, "needed");
  for (const each of notes) note(describeRowsNote(each));
  if (joined.passedOver > 0) note(describeJoinedRows({ joined }));
  for (const line of formatConsent(consent, read, become)) {
    note(line, consent.unclearCount > 0 ? "needed" : undefined);
  }
}

function describeJoinedRows({ joined }: { joined: JoinedRows }): string {
  const examples = [...joined.groups.values()]
    .slice(0, 5)
    .map(({ lines }) => formatLines(lines.slice(0, 10)));
  const { size } = joined.groups;
  const more = size > examples.length ? `; and ${formatCount(size - examples.length)} more` : "";
  return `${formatCounted(size, "contact")} ${size === 1 ? "appears" : "appear"} on several lines (${examples.join("; ")}${more}); ${fates[joined.how]}`;
}

function formatLines(lines: readonly number[]): string {
  return `${lines.slice(0, -1).join(", ")} and ${lines.at(-1)}`;
}

export function formatPrice({ estimate, left, monthLeft }: Price): string {
  const requests = formatCounted(left, "request");
  return `To send: ${requests} (${formatAboutDuration(estimate.seconds)}${formatShare(left, monthLeft)})`;
}
