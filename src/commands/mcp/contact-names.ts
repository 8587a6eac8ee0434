/** The labels of what contacts name by ids: fields, tags and lists, as plans take them. */
import type { Clock } from "../../wire.ts";
import type { Invoke } from "./invoke.ts";

const rememberedMilliseconds = 10 * 60_000;

/** By id. */
type Names = Record<string, string>;

export interface ContactNames {
  /**
   * Of the ids that stand somewhere in the value, in the structure of its contacts. Costs two requests every
   * ten minutes at most.
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
      const age = clock.now() - (known.get(structureId)?.at ?? Number.NEGATIVE_INFINITY);
      if (age < 0 || age > rememberedMilliseconds)
        known.set(structureId, { names: await read(structureId, signal), at: clock.now() });
      return Object.fromEntries(Object.entries(known.get(structureId)!.names).filter(([id]) => ids.has(id)));
    },
  };
}
