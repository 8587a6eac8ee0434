/** The names that an account's answers carry, gathered for completions. Pure. */
import type { ApiRequest, ContactList, ContactStructure } from "../wire.ts";

export interface AccountNames {
  structures: string[];
  fields: string[];
  tags: string[];
  lists: string[];
}

export interface NamesSeen {
  /** Looks at an answer's text; what says nothing of names is passed over. Never throws. */
  see(request: ApiRequest, text: string): void;
  /** What is known now, given what was known before. */
  addTo(before: Partial<AccountNames>): Partial<AccountNames>;
}

const structuresPath = /^\/api\/contact-structure(?:\/([^/]+))?(\/lists)?$/;

export function createNamesSeen(): NamesSeen {
  const structures = new Map<string, Partial<ContactStructure>>();
  const lists = new Map<string, string>();
  /** Whether all were seen: then what was known before is outdated. */
  let hasAllStructures = false;
  let hasAllLists = false;

  function seeLists(request: ApiRequest, body: unknown): void {
    if (request.method === "POST") {
      // The specification shows only `_id` in the answer to a creation.
      noteList({ ...(request.body as ContactList | undefined), ...(body as ContactList) });
      return;
    }
    const { total, records } = Array.isArray(body)
      ? { total: undefined, records: body }
      : (body as { total?: number; records: unknown[] });
    for (const list of records) noteList(list as ContactList);
    hasAllLists ||= total !== undefined && lists.size >= total;
  }

  function noteList({ _id, name }: ContactList): void {
    if (typeof _id === "string" && typeof name === "string") lists.set(_id, name);
  }

  function seeStructures(body: unknown): void {
    if (Array.isArray(body)) hasAllStructures = true;
    for (const structure of [body].flat() as ContactStructure[]) {
      if (typeof structure._id !== "string") continue;
      structures.set(structure._id, { ...structures.get(structure._id), ...structure });
    }
  }

  return {
    see(request, text) {
      const [isMatch, , isLists] = structuresPath.exec(request.path) ?? [];
      if (!isMatch || request.method === "DELETE") return;
      try {
        const body: unknown = JSON.parse(text);
        if (isLists) seeLists(request, body);
        else seeStructures(body);
      } catch {
        // Another answer than the specified one: the command that asked says so.
      }
    },
    addTo(before) {
      const known = [...structures.values()];
      const merged = (now: unknown[], part: keyof AccountNames, hasAll: boolean) => {
        const names = now.filter((name) => typeof name === "string");
        return [...new Set([...(hasAll ? [] : (before[part] ?? [])), ...names])];
      };
      const labels = (part: "fields" | "tags") =>
        known.flatMap((structure) => (structure[part] ?? []).map(({ label }) => label));
      return {
        ...before,
        ...(known.length > 0 && {
          structures: merged(
            known.map(({ label }) => label),
            "structures",
            hasAllStructures,
          ),
          fields: merged(labels("fields"), "fields", hasAllStructures),
          tags: merged(
            labels("tags"),
            "tags",
            hasAllStructures && known.every(({ tags }) => tags !== undefined),
          ),
        }),
        ...(lists.size > 0 && { lists: merged([...lists.values()], "lists", hasAllLists) }),
      };
    },
  };
}
