/** What a search is to find, once names are ids: what the service decides, and what is decided here. Pure. */
import { findStatus, statusParts } from "../api/contacts.ts";
import { type EcmError, unreadableAnswerError, usageError } from "../errors.ts";
import type { Contact, Filter } from "../wire.ts";
import type { StatusFilter } from "./status-filter.ts";

export interface Conditions {
  filters: Filter[];
  /**
   * Any of these keys, besides the filters: how several are asked for has to be found out (`key-search.ts`).
   */
  keys?: SeveralKeys;
  keeps?: LocalCondition;
}

export interface SeveralKeys {
  values: string[];
  /** Keys of e-mail are one in every letter case. */
  areEmails: boolean;
}

/**
 * A condition that no search of the service can express: it is held against each contact that the service
 * finds.
 */
export interface LocalCondition {
  /** The parts of a contact that it reads, as a search's `source` names them. */
  needs: readonly string[];
  holds(contact: Partial<Contact>): boolean;
}

/** All of them must hold. @returns undefined where there is none */
export function combine(...conditions: (LocalCondition | undefined)[]): LocalCondition | undefined {
  const present = conditions.filter((each) => each !== undefined);
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

function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The contact has any of these tags. */
export function createTagCondition(ids: readonly string[]): LocalCondition {
  return {
    needs: ["tags"],
    holds({ tags }) {
      if (tags) return tags.some(({ _id }) => ids.includes(_id));
      throw untoldError(
        "The service did not say which tags the contacts have",
        "--tag cannot be evaluated without them",
      );
    },
  };
}

/** The contact is in any of these lists, as far as the service tells its lists. */
export function createListCondition(ids: readonly string[]): LocalCondition {
  return {
    needs: ["lists"],
    holds: ({ lists }) => lists?.some(({ _id }) => ids.includes(_id)) ?? true,
  };
}

/** The contact has this primary status, as far as the service tells its status. */
export function createPrimaryCondition({ primary }: StatusFilter): LocalCondition {
  return {
    needs: statusParts,
    holds: (contact) => (findStatus(contact)?.primary.toLowerCase() ?? primary) === primary,
  };
}

/** The contact has the secondary status; undefined where the service decides on the primary one alone. */
export function createSecondaryCondition({ primary, secondary }: StatusFilter): LocalCondition | undefined {
  if (secondary === undefined) return undefined;
  return {
    needs: statusParts,
    holds(contact) {
      const status = findStatus(contact);
      if (!status) {
        throw untoldError(
          "The service did not tell the status of the contacts",
          "Select by the primary status, active or inactive",
        );
      }
      // A service may say of active contacts that they are active, and no more.
      const actual = status.secondary?.toLowerCase() ?? (primary === "active" ? secondary : undefined);
      return status.primary.toLowerCase() === primary && actual === secondary;
    },
  };
}

/** @param time in milliseconds since the epoch */
export function createUpdatedAfter(time: number): LocalCondition {
  return {
    needs: ["updatedAt"],
    holds({ updatedAt }) {
      const at = Date.parse(updatedAt ?? "");
      if (!Number.isNaN(at)) return at > time;
      throw untoldError(
        "The service did not say when the contacts were updated",
        "--since cannot be evaluated without it",
      );
    },
  };
}

function untoldError(message: string, hint: string): EcmError {
  return unreadableAnswerError(message, hint);
}
