/** A plan without the people in it. */
import type { PlanLine } from "../../bulk/index.ts";

/** Lines of the input take the place of addresses; contacts that are on none are numbered after them. */
export function createPlanRedactor(): (line: PlanLine) => PlanLine {
  let last = 0;
  const toNumber = (line: number | null) => {
    const number = line ?? last + 1;
    last = Math.max(last, number);
    return `#${number}`;
  };
  return ({ line, action, code, changes }) => ({
    line,
    key: toNumber(line),
    contactId: null,
    action,
    code,
    message: null,
    changes: changes.map(({ what, name, before, after }) => ({
      what,
      name: hideAddresses(name),
      before: redactText(before),
      after: redactText(after),
    })),
  });
}

/** Lists, tags and what a service says may be named after people. */
export function hideAddresses(text: string): string {
  return text.replace(/[^\s<>"'`,;:()[\]{}|]+@[^\s<>"'`,;:()[\]{}|]+/gu, "…");
}

/** That a value is emptied, or was empty, is told; no value is. */
function redactText<T>(value: T): T | string {
  return typeof value === "string" && value !== "" ? "…" : value;
}
