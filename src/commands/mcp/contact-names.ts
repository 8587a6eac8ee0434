/** The labels of what contacts name by ids: fields, tags and lists, as plans take them. */
import type { Clock } from "../../wire.ts";
import type { Invoke } from "./invoke.ts";

const rememberedMilliseconds = 10 * 60_000;

/** By id. */
type Names = Record<string, string>;

export interface ContactNames {
  /** Of the ids that stand somewhere in the value. Costs two requests every ten minutes at most. */
  find(value: unknown, signal: AbortSignal): Promise<Names>;
}

interface Labelled {
  _id: string;
  label?: string;
  name?: string;
}

export function createContactNames(invoke: Invoke, clock: Clock): ContactNames {
  let known: { names: Names; at: number } | undefined;

  async function read(signal: AbortSignal): Promise<Names> {
    const structure = await invoke(["structure", "get"], { signal });
    const lists = await invoke(["lists", "list", "--size=1000"], { signal });
    const { fields = [], tags = [] } = structure.value as { fields?: Labelled[]; tags?: Labelled[] };
    const all = [...fields, ...tags, ...(lists.value as Labelled[])];
    return Object.fromEntries(all.map(({ _id, label, name }) => [_id, label ?? name ?? _id]));
  }

  return {
    async find(value, signal) {
      const ids = new Set(JSON.stringify(value).match(/[0-9a-f]{24}/g));
      if (ids.size === 0) return {};
      if (!known || clock.now() - known.at > rememberedMilliseconds || clock.now() < known.at)
        known = { names: await read(signal), at: clock.now() };
      return Object.fromEntries(Object.entries(known.names).filter(([id]) => ids.has(id)));
    },
  };
}
