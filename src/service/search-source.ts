/**
 * The names of a search's `source`. The published reference and the specification name different parts of a
 * contact, and a service refuses a search that holds a name it does not know. So a refused search is asked
 * again with the names of the other document, and then with those that both have. Pure.
 */

import { statusParts } from "../api/contacts.ts";
import { hasStatus } from "../errors.ts";
import type { BehaviorPoints } from "./behavior.ts";

export type SourceSpelling = BehaviorPoints["source"];

/** In the order in which they are tried. */
const forms: readonly SourceSpelling[] = ["published", "specified", "common"];

/** The names in a form. What the form has no name for is left out: the answer does not tell it. */
export function toSource(form: SourceSpelling, source: readonly string[]): string[] {
  if (form === "published") return [...source];
  const namedParts = source.filter((name) => !statusParts.includes(name) && name !== "updatedAt");
  if (form === "specified" && source.some((name) => statusParts.includes(name))) namedParts.push("status");
  // A search needs a name.
  return namedParts.length > 0 ? namedParts : ["_id"];
}

/** The forms to try after one was refused: those that ask for something else than what was refused. */
export function listOtherForms(refused: SourceSpelling, source: readonly string[]): SourceSpelling[] {
  const refusedNames = new Set([toName(refused)]);
  return forms.filter((form) => {
    const all = toName(form);
    if (refusedNames.has(all)) return false;
    refusedNames.add(all);
    return true;
  });

  function toName(form: SourceSpelling): string {
    return toSource(form, source).join();
  }
}

/** Whether a search was refused for a name in its `source`. */
export function isSourceRefusal(error: unknown): boolean {
  if (!hasStatus(error, 400)) return false;
  return /\bsource\b/i.test(error.details.field ?? error.message);
}

/**
 * Whether an answer to these names shows which form the service takes;
 * should it be another, its next refusal tells.
 */
export function provesForm(source: readonly string[]): boolean {
  return source.some((name) => statusParts.includes(name) || name === "updatedAt");
}

/** Whether searches are known to tell this part of a contact in no form. */
export function isLeftOut(form: SourceSpelling | undefined, part: string): boolean {
  if (part === "updatedAt") return form === "specified" || form === "common";
  return statusParts.includes(part) && form === "common";
}
