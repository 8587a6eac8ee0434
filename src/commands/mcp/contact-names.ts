/** The labels of what contacts name by ids: fields, tags and lists, as plans take them. */
import { isObject } from "../../is-object.ts";
import type { Clock } from "../../wire.ts";
import type { Invoke } from "./invoke.ts";

const rememberedMilliseconds = 10 * 60_000;

/** By id; undefined for one that was asked for and has no name. */
type Names = Record<string, string | undefined>;

export interface ContactNames {
  /**
   * Of the ids that stand somewhere in the value, in the structure of its contacts. Costs two requests every
   * ten minutes, and where a contact has a field, a list or a tag that was not there yet.
   */
  find(value: unknown, signal: AbortSignal): Promise<Names>;
}

interface Labelled {
  _id: string;
  label?: string;
  name?: string;
}

export function createContactNames(invoke: Invoke, clock: Clock): ContactNames {
  const known = new Map<string | undefined, { names: Names; at: number }>();

  async function read(structureId: string | undefined, signal: AbortSignal): Promise<Names> {
    const options = { signal, structureId };
    const structure = await invoke(["structure", "get"], options);
    const lists = await invoke(["lists", "list", "--size=1000"], options);
    const { fields = [], tags = [] } = structure.value as { fields?: Labelled[]; tags?: Labelled[] };
    const all = [...fields, ...tags, ...(lists.value as Labelled[])];
    return Object.fromEntries(all.map(({ _id, label, name }) => [_id, label ?? name ?? _id]));
  }

  return {
    async find(value, signal) {
      const text = JSON.stringify(value);
      const ids = new Set(text.match(/[0-9a-f]{24}/g));
      if (ids.size === 0) return {};
      const structureId = /"contactStructureId":"([0-9a-f]{24})"/.exec(text)?.[1];
      const { names = {}, at = Number.NEGATIVE_INFINITY } = known.get(structureId) ?? {};
      const age = clock.now() - at;
      const unknown = listPartIds(value).filter((id) => !Object.hasOwn(names, id));
      if (age < 0 || age > rememberedMilliseconds || unknown.length > 0) {
        // What has no name is asked for once.
        const nameless = Object.fromEntries(unknown.map((id) => [id, undefined]));
        const all = { ...nameless, ...(await read(structureId, signal)) };
        known.set(structureId, { names: all, at: clock.now() });
      }
      const all = Object.entries(known.get(structureId)!.names);
      return Object.fromEntries(all.filter(([id, name]) => ids.has(id) && name !== undefined));
    },
  };
}

const parts: readonly string[] = ["fields", "lists", "tags"];

/** Ids of the fields, lists and tags of contacts, somewhere in the value. */
function listPartIds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listPartIds);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    parts.includes(name) && Array.isArray(member)
      ? member.flatMap((part) => (isObject(part) && typeof part._id === "string" ? [part._id] : []))
      : listPartIds(member),
  );
}
