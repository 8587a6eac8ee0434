/** The findings for people: a mark, what was examined, what was found, and below it what to do. */
import { escapeControls } from "../../../terminal/escape.ts";
import { createStyle } from "../../../terminal/style.ts";
import type { Terminal } from "../../../terminal/terminal.ts";
import { measureWidth, wrap } from "../../../terminal/text-width.ts";
import type { Finding, ShownFinding } from "./findings.ts";

const marks = { pass: "✓", warn: "!", fail: "✗" } as const;

/** @returns whole lines, wrapped at the terminal's width */
export function drawFindings(terminal: Terminal, findings: readonly ShownFinding[]): string {
  const { green, yellow, red, dim } = createStyle(terminal.isColored.out);
  const paint = { pass: green, warn: yellow, fail: red };
  const widest = Math.max(...findings.map(({ check }) => measureWidth(check)));
  // Read aloud, a mark says nothing.
  const toMark = (status: Finding["status"]) => (terminal.isAccessible ? status : marks[status]);
  const markWidth = Math.max(...findings.map(({ status }) => measureWidth(toMark(status))));
  const indent = " ".repeat(markWidth + 1 + widest + 2);
  const room = Math.max(20, terminal.columns - indent.length);
  const lines = findings.flatMap(({ status, check, message, hint }) => {
    const head = `${paint[status](toMark(status).padEnd(markWidth))} ${check.padEnd(widest)}  `;
    const [first = "", ...more] = wrap(escapeControls(message), room);
    const hints = hint === undefined ? [] : wrap(escapeControls(hint), room);
    return [
      `${head}${first}`,
      ...more.map((line) => indent + line),
      ...hints.map((line) => indent + dim(line)),
    ];
  });
  return `${[...lines, "", formatVerdict(findings)].join("\n")}\n`;
}

function formatVerdict(findings: readonly ShownFinding[]): string {
  const countStatus = (status: Finding["status"]) => findings.filter((each) => each.status === status).length;
  const [warnings, failures] = [countStatus("warn"), countStatus("fail")];
  if (failures > 0) return `${failures} of ${findings.length} checks failed.`;
  if (warnings > 0) return `${warnings} ${warnings === 1 ? "warning" : "warnings"}. Nothing is broken.`;
  return "Everything is fine.";
}
