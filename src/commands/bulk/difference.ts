/** The first lines of a plan as a difference, for people. */
import type { ClosedPlan, PlanChange, PlanLine } from "../../bulk/index.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { createStyle, type Style } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { cut, measureWidth } from "../../terminal/text-width.ts";

/** Whether a plan line changes something in the account. */
export function isChange({ action }: PlanLine): boolean {
  return action === "create" || action === "update" || action === "delete";
}

/**
 * One line for each contact: `~ ada@example.com  City  London → Paris   + tag VIP`. The key is never cut.
 * @param stream that it is for
 */
export function drawDifference(
  terminal: Terminal,
  plan: readonly PlanLine[],
  stream: "out" | "err" = "err",
): string[] {
  const style = createStyle(terminal.isColored[stream]);
  const columns = stream === "out" ? terminal.columns : terminal.stderrColumns;
  const keyWidth = Math.min(
    Math.max(...plan.map(({ key }) => measureWidth(escapeControls(key)))),
    maxKeyWidth,
  );
  return plan.map((line) => {
    const key = escapeControls(line.key);
    const gap = " ".repeat(Math.max(0, keyWidth - measureWidth(key)) + 2);
    const room = Math.max(minRoom, columns - 4 - Math.max(keyWidth, measureWidth(key)) - 2);
    const what = cut(escapeControls(formatChanges(line)), room);
    return `  ${toMark(line, style)} ${key}${what === "" ? "" : gap + what}`;
  });
}

/** Keys are aligned up to this width. */
const maxKeyWidth = 40;
const minRoom = 20;

function toMark({ action }: PlanLine, { green, yellow, red }: Style): string {
  if (action === "create") return green("+");
  return action === "delete" ? red("-") : yellow("~");
}

function formatChanges({ action, changes }: PlanLine): string {
  if (action === "create") {
    const parts = changes.map(({ what, name, after }) =>
      what === "field" ? `${name} ${after}` : `${what} ${name}`,
    );
    return parts.join(", ");
  }
  return changes.map(formatChange).join("   ");
}

/** `City  London → Paris`, `+ tag VIP`. */
function formatChange({ what, name, before, after }: PlanChange): string {
  if (typeof after === "boolean") return `${after ? "+" : "-"} ${what} ${name}`;
  const was = before === null ? "" : `${before === "" ? "(empty)" : before} → `;
  return `${what === "status" ? "Status" : name}  ${was}${after === "" ? "(empty)" : after}`;
}

/** Neither the command nor the file names a list for the contacts of an import: it is easily forgotten. */
export function goesIntoNoList({ head, creations }: Pick<ClosedPlan, "head" | "creations">): boolean {
  const hasNewList = creations.some(({ what }) => what === "list");
  return head.kind === "import" && Object.keys(head.names.lists).length === 0 && !hasNewList;
}
