/** What is known of a service's behavior, in words that a person can read and send to support. Pure. */
import { formatCount } from "../counts.ts";
import type { KnownBehavior } from "./behavior.ts";

interface PointDescription {
  point: string;
  seen(behavior: KnownBehavior): string | undefined;
}

const descriptions: PointDescription[] = [
  {
    point: "several keys in one search",
    seen: ({ keys }) =>
      keys &&
      { any: "any of them is found", alternatives: "not as values of one condition", one: "not accepted" }[
        keys.value
      ],
  },
  {
    point: "keys in one search, at most",
    seen: ({ maxKeys, keys }) => (maxKeys ? `${maxKeys.value}` : keys ? "100 or more" : undefined),
  },
  {
    point: "contacts on a page, at most",
    seen({ maxPage, pageCut }) {
      if (pageCut) return `${formatCount(pageCut.value)}; more is cut silently`;
      if (!maxPage) return undefined;
      return maxPage.value >= 1000 ? "1,000 or more" : `${formatCount(maxPage.value)}; more is refused`;
    },
  },
  {
    point: "lists on a page, at most",
    seen: ({ maxListSize, listSizeCut }) =>
      maxListSize
        ? `${maxListSize.value}; more is refused`
        : listSizeCut
          ? `${listSizeCut.value}; more is cut silently`
          : undefined,
  },
  {
    point: "the list of lists",
    seen: ({ lists }) => lists && { records: "{ total, records }", array: "an array" }[lists.value],
  },
  {
    point: "names that a search can ask for",
    seen: ({ source }) =>
      source &&
      {
        published: "the nine of the published reference",
        specified: "the members of a contact in the specification",
        common: "those that are in both; neither the status nor updatedAt",
      }[source.value],
  },
  {
    point: "a search for the members of a list",
    seen: ({ listColumn }) =>
      listColumn && { taken: "by LIST_ID", refused: "LIST_ID is refused" }[listColumn.value],
  },
  {
    point: "a contact's status in a search",
    seen: ({ status }) =>
      status && { parts: "contactStatus and contactSubStatus", object: "one object, status" }[status.value],
  },
  {
    point: "letter case of a status to search for",
    seen: ({ statusCase }) => statusCase && { lower: "active", capital: "Active" }[statusCase.value],
  },
  {
    point: "a new contact in a search",
    seen: ({ searchLag }) =>
      searchLag && (searchLag.value === 0 ? "at once" : `after ${formatCount(searchLag.value)} ms`),
  },
  {
    point: "tags and lists in a change",
    seen: ({ mutateElements }) =>
      mutateElements && { object: "{ _id }", id: "bare ids" }[mutateElements.value],
  },
  {
    point: "the answer to a change",
    seen: ({ mutateAnswer }) =>
      mutateAnswer && { contact: "the contact", empty: "empty", other: "something else" }[mutateAnswer.value],
  },
];

/** The points that are known, in a few words each. */
export function describeBehavior(behavior: KnownBehavior): string[] {
  return descriptions.flatMap(({ point, seen }) => {
    const text = seen(behavior);
    return text === undefined ? [] : `${point}: ${text}`;
  });
}

/** RFC 3339: when the newest of it was learned. */
export function findLastLearned(behavior: KnownBehavior): string | undefined {
  return Object.values(behavior)
    .map((point) => point.learnedAt)
    .sort()
    .at(-1);
}
