/** Runs of the account with the rows that they rejected, and open plans, to be read without a tool. */
import { openPlanFile, sumCounts } from "../../bulk/index.ts";
import { NotFoundError } from "../../errors.ts";
import { toPlanObject, toShownLine } from "../shared/bulk/plan-object.ts";
import type { Invoke } from "./invoke.ts";
import { findRun, readOwnRuns } from "./own-runs.ts";
import type { Plans } from "./plans.ts";
import { maxRows } from "./tool.ts";

const runsUri = "ecm://runs";
const plansUri = "ecm://plans";
const jsonType = "application/json";
/** Rows of one resource end here, whatever their number: a value may be long. */
const maxCharacters = 256 * 1024;

export interface Resources {
  readonly templates: { uriTemplate: string; name: string; description: string; mimeType: string }[];
  list(signal: AbortSignal): Promise<{ resources: { uri: string; name: string; mimeType: string }[] }>;
  /** @throws NotFoundError; what the command throws */
  read(
    uri: string,
    signal: AbortSignal,
  ): Promise<{ contents: { uri: string; mimeType: string; text: string }[] }>;
}

/** @param plans undefined where nothing may be written */
export function createResources(invoke: Invoke, plans: Plans | undefined): Resources {
  const toTemplate = (uriTemplate: string, name: string, description: string) => ({
    ...{ uriTemplate, name, description, mimeType: jsonType },
  });
  return {
    templates: [
      toTemplate(`${runsUri}/{run}`, "run", "one bulk run"),
      toTemplate(`${runsUri}/{run}/changes`, "changes", "what it did to each contact, as lines of a plan"),
      toTemplate(`${runsUri}/{run}/rejects`, "rejects", "the rows that it rejected, with the reason"),
      ...(plans
        ? [
            toTemplate(`${plansUri}/{token}`, "plan", "what an open plan of this session would write"),
            toTemplate(`${plansUri}/{token}/rejects`, "plan-rejects", "its rejected lines, with the reason"),
          ]
        : []),
    ],
    async list(signal) {
      const toResource = (uri: string, name: string) => ({ uri, name, mimeType: jsonType });
      const runs = await readOwnRuns(invoke, signal);
      const open = (await plans?.list()) ?? [];
      return {
        resources: [
          toResource(runsUri, "bulk runs of this account"),
          ...runs.slice(0, maxRows).map(({ run, kind }) => toResource(`${runsUri}/${run}`, `${kind} ${run}`)),
          ...(plans ? [toResource(plansUri, "open plans of this session")] : []),
          ...open.map(({ token, writes }) =>
            toResource(`${plansUri}/${token}`, `plan of ${writes} to write`),
          ),
        ],
      };
    },
    async read(uri, signal) {
      const value = uri.startsWith(plansUri)
        ? await readPlans(plans, uri)
        : await readRuns(invoke, uri, signal);
      return { contents: [{ uri, mimeType: jsonType, text: JSON.stringify(value) }] };
    },
  };
}

async function readPlans(plans: Plans | undefined, uri: string): Promise<unknown> {
  const [, token, section] = /^ecm:\/\/plans\/([0-9a-f]+)(?:\/(rejects))?$/.exec(uri) ?? [];
  if (!plans || (token === undefined && uri !== plansUri)) throw unknownResourceError(uri);
  if (token === undefined) return plans.list();
  const plan = await openPlanFile((await plans.look(token)).file);
  const counts: Record<string, number> = plan.end.counts;
  const total = section === "rejects" ? (counts.reject ?? 0) : sumCounts(counts);
  const lines: object[] = [];
  for await (const line of plan.lines()) {
    if (lines.length === Math.min(maxRows, total)) break;
    if (section === undefined || line.action === "reject") lines.push(toShownLine(line));
  }
  if (section === "rejects") return limitRows(section, lines, total);
  return { ...toPlanObject(plan), ...limitRows("lines", lines, total) };
}

async function readRuns(invoke: Invoke, uri: string, signal: AbortSignal): Promise<unknown> {
  const runs = await readOwnRuns(invoke, signal);
  if (uri === runsUri) return runs.slice(0, maxRows);
  const [, id, section] = /^ecm:\/\/runs\/([^/]+)(?:\/(changes|rejects))?$/.exec(uri) ?? [];
  if (id === undefined) throw unknownResourceError(uri);
  const run = findRun(runs, id);
  if (section === undefined) return run;
  const words = section === "changes" ? ["runs", "show", "--changes"] : ["runs", "rejects"];
  const { value } = await invoke([...words, "--", run.run], { signal, isLines: section === "changes" });
  const rows = (value ?? []) as object[];
  return limitRows(section, rows, rows.length);
}

/** As many rows as an answer has at the most, and a word when that is not all. */
function limitRows(name: string, rows: readonly object[], total: number): object {
  let characters = 0;
  const fitting = rows.slice(0, maxRows).filter((row) => {
    characters += JSON.stringify(row).length;
    return characters <= maxCharacters;
  });
  return { [name]: fitting, total, hasMore: fitting.length < total };
}

function unknownResourceError(uri: string): NotFoundError {
  return new NotFoundError(`There is no resource ${JSON.stringify(uri)}`);
}
