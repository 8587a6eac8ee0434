/** A plan file as JSON shows it. */
import type { PlanFile } from "../../bulk/index.ts";

/** What the plan is and comes to; its lines are apart. */
export function toPlanObject({ head, creations, end }: Pick<PlanFile, "head" | "creations" | "end">): object {
  const { version, program, kind, command, account, input, createdAt } = head;
  const { counts, requests, digest } = end;
  const plan = { version, program, kind, command, account, input, createdAt };
  return { plan, creations, counts, requests, digest };
}
