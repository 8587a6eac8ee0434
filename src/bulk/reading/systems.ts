/** Reading: the exports of known systems, as a table of rules. */
import type { ContactStructure } from "../../wire.ts";
import type { Target } from "../rows.ts";

export interface System {
  name: string;
}

export function systemTarget(
  _system: System,
  _name: string,
  _structure: ContactStructure,
): Target | undefined {
  return undefined;
}
