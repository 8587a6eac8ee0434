/** What a search is to find, once names are ids: what the service decides, and what is decided here. Pure. */
import { findStatus, statusParts } from "../api/contacts.ts";
import { unreadableAnswerError, usageError } from "../errors.ts";
import type { LocalCondition, SeveralKeys } from "../service/contact-search.ts";
import type { Filter } from "../wire.ts";
import type { StatusFilter } from "./status-filter.ts";

export interface Conditions {
  filters: Filter[];
  /**
   * Any of these keys, besides the filters: how several are asked for has to be found out (`key-search.ts`).
   */
  keys?: SeveralKeys;
  keeps?: LocalCondition;
}

/** All of them must hold. @returns undefined where there is none */
export function combine(...conditions: (LocalCondition | false | undefined)[]): LocalCondition | undefined {
  const present = conditions.filter((each) => each !== undefined && each !== false);
  if (present.length < 2) return present[0];
  return {
    needs: [...new Set(present.flatMap(({ needs }) => needs))],
    holds: (contact) => present.every((condition) => condition.holds(contact)),
  };
}

/**
 * Every word must be in the key or in a field, in any of them; letter case and accents do not matter.
 * @throws UsageError for a text without a word
 */
export function createTextCondition(text: string): LocalCondition {
  const fold = (each: string) => each.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = fold(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) throw usageError("--text is empty", "Name what to look for, such as --text Ada");
  return {
    needs: ["key", "fields"],
    holds({ key = "", fields = [] }) {
      const values = [key, ...fields.map(({ value }) => value)].map((value) => fold(String(value ?? "")));
      return words.every((word) => values.some((value) => value.includes(word)));
    },
  };
}

/** The contact has any of these tags. */
export function createTagCondition(ids: readonly string[]): LocalCondition {
  return {
    needs: ["tags"],
    holds: ({ tags }) => requireTold("tags", tags, "--tag").some(({ _id }) => ids.includes(_id)),
  };
}

/** The contact is in any of these lists, as far as the service tells its lists. */
export function createListCondition(ids: readonly string[]): LocalCondition {
  return {
    needs: ["lists"],
    holds: ({ lists }) => lists?.some(({ _id }) => ids.includes(_id)) ?? true,
  };
}

/** The contact has this status. Where the service tells none, its filter is trusted for the primary one. */
export function createStatusCondition({ primary, secondary }: StatusFilter): LocalCondition {
  return {
    needs: statusParts,
    holds(contact) {
      const status = findStatus(contact);
      if (secondary === undefined) return (status?.primary.toLowerCase() ?? primary) === primary;
      const known = requireTold("status", status, "--status");
      // A service may say of active contacts that they are active, and no more.
      const actual = known.secondary?.toLowerCase() ?? (primary === "active" ? secondary : undefined);
      return known.primary.toLowerCase() === primary && actual === secondary;
    },
  };
}

/** @param time in milliseconds since the epoch */
export function createUpdatedAfter(time: number): LocalCondition {
  return {
    needs: ["updatedAt"],
    holds({ updatedAt = "" }) {
      const at = Date.parse(updatedAt);
      return requireTold("updatedAt", Number.isNaN(at) ? undefined : at, "--since") > time;
    },
  };
}

/** @param flag that cannot be evaluated without the part */
export function requireTold<T>(part: string, value: T | undefined, flag: string): T {
  if (value !== undefined) return value;
  throw unreadableAnswerError(
    `The service did not tell the ${part} of the contacts`,
    `${flag} cannot be evaluated without it`,
  );
}
