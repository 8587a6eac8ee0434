/** What is known of a service's behavior, in words that a person can read and send to support. Pure. */
import { formatCount } from "../counts.ts";
import type { KnownBehavior } from "./behavior.ts";

export interface BehaviorRow {
  point: string;
  /** What the documents say. */
  documented: string;
  seen: string;
  /** What `ecm` makes of it. */
  does: string;
}

const unknownText = "not found out";

interface PointDescription {
  point: string;
  documented: string;
  seen(behavior: KnownBehavior): string | undefined;
  does(behavior: KnownBehavior): string;
}

const descriptions: PointDescription[] = [
  {
    point: "several keys in one search",
    documented: "not said",
    seen: ({ keys }) =>
      keys &&
      { any: "any of them is found", alternatives: "not as values of one condition", one: "not accepted" }[
        keys.value
      ],
    does: ({ keys }) =>
      ({
        any: "asks for up to 100 at once",
        alternatives: "asks with one filter for each key",
        one: "asks for each key alone",
      })[keys?.value ?? "any"],
  },
  {
    point: "keys in one search, at most",
    documented: "not said",
    seen: ({ maxKeys, keys }) => (maxKeys ? `${maxKeys.value}` : keys ? "100 or more" : undefined),
    does: ({ maxKeys }) =>
      maxKeys ? `asks for up to ${maxKeys.value} at once` : "halves a number that is refused",
  },
  {
    point: "contacts on a page, at most",
    documented: "not said",
    seen({ maxPage, pageCut }) {
      if (pageCut) return `${formatCount(pageCut.value)}; more is cut silently`;
      if (!maxPage) return undefined;
      return maxPage.value >= 1000 ? "1,000 or more" : `${formatCount(maxPage.value)}; more is refused`;
    },
    does: ({ maxPage }) =>
      maxPage
        ? `asks for ${formatCount(maxPage.value)}`
        : "asks for 1,000; reads on until the total is reached",
  },
  {
    point: "lists on a page, at most",
    documented: "not said",
    seen: ({ maxListSize, listSizeCut }) =>
      maxListSize
        ? `${maxListSize.value}; more is refused`
        : listSizeCut
          ? `${listSizeCut.value}; more is cut silently`
          : undefined,
    does: ({ maxListSize }) =>
      maxListSize ? `asks for ${maxListSize.value}` : "asks for 100; reads on until the total is reached",
  },
  {
    point: "the list of lists",
    documented: "{ total, records }, or an array",
    seen: ({ lists }) => lists && { records: "{ total, records }", array: "an array" }[lists.value],
    does: () => "reads both",
  },
  {
    point: "the list of structures",
    documented: "without tags, or with them",
    seen: ({ structures }) =>
      structures && { whole: "with tags and required", slim: "without tags or required" }[structures.value],
    does: () => "reads the single structure before an update where parts are missing",
  },
  {
    point: "names that a search can ask for",
    documented: "nine names, or the members of a contact",
    seen: ({ source }) =>
      source &&
      {
        published: "the nine of the published reference",
        specified: "the members of a contact in the specification",
        common: "those that are in both; neither the status nor updatedAt",
      }[source.value],
    does: ({ source }) =>
      ({
        published: "asks for these",
        specified: "asks for status in place of contactStatus and contactSubStatus; cannot tell updatedAt",
        common: "reads contacts by their ids where their status matters; cannot tell updatedAt",
        open: "asks for the nine; with the other names if they are refused",
      })[source?.value ?? "open"],
  },
  {
    point: "a search for the members of a list",
    documented: "LIST_ID, or not shown",
    seen: ({ listColumn }) =>
      listColumn && { taken: "by LIST_ID", refused: "LIST_ID is refused" }[listColumn.value],
    does: ({ listColumn }) =>
      listColumn?.value === "refused"
        ? "reads all contacts and selects the members itself"
        : "searches by LIST_ID; reads all contacts if that is refused",
  },
  {
    point: "a contact's status in a search",
    documented: "contactStatus and contactSubStatus",
    seen: ({ status }) =>
      status && { parts: "contactStatus and contactSubStatus", object: "one object, status" }[status.value],
    does: () => "reads both",
  },
  {
    point: "letter case of a status to search for",
    documented: "active, or Active",
    seen: ({ statusCase }) => statusCase && { lower: "active", capital: "Active" }[statusCase.value],
    does: ({ statusCase }) =>
      statusCase ? "asks in this form" : "asks in lower case; once more with a capital if refused",
  },
  {
    point: "letter case of keys",
    documented: "not said",
    seen: ({ keyCase }) => keyCase && { fold: "does not matter", exact: "matters" }[keyCase.value],
    does: () => "compares without it; looks keys up as written and in lower case",
  },
  {
    point: "inactive contacts in a search",
    documented: "not said",
    seen: ({ inactive }) =>
      inactive && { shown: "shown", hidden: "hidden, unless their status is asked for" }[inactive.value],
    does: () => "says of a contact that is not shown that it exists (exists_hidden)",
  },
  {
    point: "a new contact in a search",
    documented: "not said",
    seen: ({ searchLag }) =>
      searchLag && (searchLag.value === 0 ? "at once" : `after ${formatCount(searchLag.value)} ms`),
    does: () => "settles uncertain creates by the service's refusal of a second one",
  },
  {
    point: "tags and lists in a change",
    documented: "not said",
    seen: ({ mutateElements }) =>
      mutateElements && { object: "{ _id }", id: "bare ids" }[mutateElements.value],
    does: ({ mutateElements }) => (mutateElements?.value === "id" ? "sends bare ids" : "sends { _id }"),
  },
  {
    point: "the answer to a change",
    documented: "not said",
    seen: ({ mutateAnswer }) =>
      mutateAnswer && { contact: "the contact", empty: "empty", other: "something else" }[mutateAnswer.value],
    does: () => "relies on nothing in it",
  },
  {
    point: "a change without effect",
    documented: "400, type not said",
    seen: ({ noop }) => noop && `400 ${noop.value}`,
    does: () => "reads the contact and compares",
  },
  {
    point: "hourly limit in the answers",
    documented: "sent",
    seen: ({ hourlyHeaders }) => hourlyHeaders?.value,
    does: ({ hourlyHeaders }) =>
      hourlyHeaders?.value === "missing" ? "waits when the service says 429" : "paces bulk runs by it",
  },
];

/** A row for each point, the open ones too. */
export function listBehaviorRows(behavior: KnownBehavior): BehaviorRow[] {
  return descriptions.map(({ point, documented, seen, does }) => ({
    point,
    documented,
    seen: seen(behavior) ?? unknownText,
    does: does(behavior),
  }));
}

/** The points that are known, in a few words each. */
export function describeBehavior(behavior: KnownBehavior): string[] {
  return listBehaviorRows(behavior)
    .filter(({ seen }) => seen !== unknownText)
    .map(({ point, seen }) => `${point}: ${seen}`);
}

/** RFC 3339: when the newest of it was learned. */
export function findLastLearned(behavior: KnownBehavior): string | undefined {
  return Object.values(behavior)
    .map((point) => point.learnedAt)
    .sort()
    .at(-1);
}
