/** Runs of the account, and the rows that they rejected, to be read without a tool. */
import { NotFoundError } from "../../errors.ts";
import type { Invoke } from "./invoke.ts";
import { findRun, readOwnRuns } from "./own-runs.ts";

const listUri = "ecm://runs";
const jsonType = "application/json";

export interface Resources {
  readonly templates: { uriTemplate: string; name: string; description: string; mimeType: string }[];
  list(signal: AbortSignal): Promise<{ resources: { uri: string; name: string; mimeType: string }[] }>;
  /** @throws NotFoundError; what the command throws */
  read(
    uri: string,
    signal: AbortSignal,
  ): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }>;
}

export function createResources(invoke: Invoke): Resources {
  return {
    templates: [
      { uriTemplate: `${listUri}/{run}`, name: "run", description: "one bulk run", mimeType: jsonType },
      {
        uriTemplate: `${listUri}/{run}/changes`,
        name: "changes",
        description: "what it did to each contact, as lines of a plan",
        mimeType: jsonType,
      },
      {
        uriTemplate: `${listUri}/{run}/rejects`,
        name: "rejects",
        description: "the rows that it rejected, with the reason",
        mimeType: jsonType,
      },
    ],
    async list(signal) {
      const runs = await readOwnRuns(invoke, signal);
      const each = runs.map(({ run, kind }) => ({
        uri: `${listUri}/${run}`,
        name: `${kind} ${run}`,
        mimeType: jsonType,
      }));
      return {
        resources: [{ uri: listUri, name: "bulk runs of this account", mimeType: jsonType }, ...each],
      };
    },
    async read(uri, signal) {
      const text = JSON.stringify(await readRun(invoke, uri, signal));
      return { contents: [{ uri, mimeType: jsonType, text }] };
    },
  };
}

async function readRun(invoke: Invoke, uri: string, signal: AbortSignal): Promise<unknown> {
  const runs = await readOwnRuns(invoke, signal);
  if (uri === listUri) return runs;
  const [, id, part] = /^ecm:\/\/runs\/([^/]+)(?:\/(changes|rejects))?$/.exec(uri) ?? [];
  if (id === undefined) throw new NotFoundError(`There is no resource ${JSON.stringify(uri)}`);
  const run = findRun(runs, id);
  if (part === undefined) return run;
  const words = part === "changes" ? ["runs", "show", "--changes"] : ["runs", "rejects"];
  return (await invoke([...words, "--", run.run], { signal, isLines: part === "changes" })).value;
}
