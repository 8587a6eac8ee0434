import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import type { Connection, Context } from "../context.ts";
import { describeDiskError } from "../disk/make-folder.ts";
import { ReadOnlyError, UsageError } from "../errors.ts";
import { describeExchange, type Exchange } from "../recording/exchange.ts";
import { createPseudonyms } from "../recording/pseudonyms.ts";
import { requestTarget } from "../request-target.ts";
import { type BehaviorRow, listBehaviorRows } from "../service/describe-behavior.ts";
import { maxProbeReads, type ProbeOptions, probeReads } from "../service/probe.ts";
import type { DetectedVariants } from "../service/probe-seen.ts";
import { createProbeContact, probeWrites } from "../service/probe-writes.ts";
import { requireFileFormat } from "../terminal/file-names.ts";
import { isForPeople } from "../terminal/format.ts";
import { fitMessage } from "../terminal/message-lines.ts";
import { requireReplaceable } from "../terminal/output-target.ts";
import { presentList, type View } from "../terminal/present.ts";
import { version } from "../version.ts";
import type { Send } from "../wire.ts";
import { writtenFileOption } from "./shared/flags.ts";
import { describeCommand } from "./shared/help-text.ts";

interface ProbeFlags {
  write?: boolean;
  save?: string;
  dryRun?: boolean;
}

/** Columns that the table takes without cutting anything. */
const minTableWidth = 170;

const view: View<BehaviorRow> = {
  columns: [
    { name: "point", value: ({ point }) => point },
    { name: "documented", value: ({ documented }) => documented },
    { name: "seen", value: ({ seen }) => seen },
    { name: "what ecm does", value: ({ does }) => does },
  ],
  id: ({ point }) => point,
};

export function registerProbe(command: Command, context: Context): void {
  command
    .option("--write", "also create, change and delete a test contact (asks first)")
    .addOption(
      writtenFileOption(
        "--save <file>",
        "save the requests and answers to FILE, with every address, name, id and key replaced",
        "json",
      ),
    )
    .option("--dry-run", "with --write: show what would be written, without writing")
    .action((flags: ProbeFlags) => runProbe(context, flags));
  describeCommand(command, {
    examples: ["ecm probe", "ecm probe --write --save probe.json"],
    output: `How this account's service behaves where the documentation does not say: point, documented, seen, and what ecm does. At most ${maxProbeReads} reads; the results are saved for the account. This command is optional: every command adapts by itself.`,
    writes: true,
    asks: "With --write",
  });
}

async function runProbe(context: Context, flags: ProbeFlags): Promise<void> {
  const output = context.output();
  const { terminal } = context;
  if (flags.save !== undefined) requireSavePlace(flags.save);
  if (flags.write && !flags.dryRun) context.requireConfirmable();
  const connection = await context.connect();
  const exchanges: SeenExchange[] = [];
  const send = recordExchanges(connection.send, exchanges, () => context.clock.now());
  const structure = await connection.account.complete(await connection.account.structure());
  const behavior = connection.behaviors(structure._id);
  const options: ProbeOptions = { send, behavior, structure, clock: context.clock, limits: context.limits };
  const { detected, reads } = await probeReads(options);
  const isDeletable = detected.literal !== "yes";
  if (flags.write && isDeletable)
    Object.assign(detected, await writeOnce(context, connection, flags, options));
  else if (flags.write) {
    terminal.warn(
      "--write was left out: this service has no more than its specification shows, which is no way to delete a contact",
    );
  }
  const rows = listBehaviorRows(behavior.known);
  if (flags.save !== undefined) {
    await save(flags.save, describeProbe(detected, rows, exchanges, context.clock.now()));
  }
  if (isForPeople(output) && terminal.columns < minTableWidth) {
    await terminal.write(fitMessage(formatStacked(rows), terminal.columns));
  } else await presentList(terminal, output, rows, view);
  terminal.note(`${reads} reads; results saved for this account until the next probe`);
  if (flags.save !== undefined) terminal.note(`Saved ${exchanges.length} exchanges to ${flags.save}`);
}

/** On a narrow terminal, point by point: nothing of it is cut. */
function formatStacked(rows: BehaviorRow[]): string {
  return rows
    .map(
      ({ point, documented, seen, does }) =>
        `${point}\n  documented  ${documented}\n  seen        ${seen}\n  ecm         ${does}\n`,
    )
    .join("\n");
}

async function writeOnce(
  context: Context,
  { profile }: Connection,
  flags: ProbeFlags,
  options: ProbeOptions,
): Promise<DetectedVariants> {
  const body = createProbeContact(options.structure, randomBytes(4).toString("hex"));
  const what = `create the contact ${body.key}, change it twice and delete it`;
  if (flags.dryRun) {
    context.terminal.note(`Dry run: --write would ${what}`);
    return {};
  }
  if (profile.readOnly) {
    throw new ReadOnlyError("--write would write; nothing was written");
  }
  await context.confirm(`This will ${what}. Continue?`);
  return probeWrites(options, body);
}

interface SeenExchange {
  exchange: Exchange;
  milliseconds: number;
  limits: unknown;
}

/** Every request and its answer, refusals included. */
function recordExchanges(send: Send, exchanges: SeenExchange[], now: () => number): Send {
  return async (request) => {
    const start = now();
    const answer = await send<never>(request, { expect: "any" });
    const { method, body } = request;
    const exchange: Exchange = {
      method,
      target: requestTarget(request),
      body: body === undefined ? undefined : JSON.stringify(body),
      answer,
    };
    exchanges.push({ exchange, milliseconds: Math.round(now() - start), limits: answer.limits });
    if (answer.problem) throw answer.problem;
    return answer;
  };
}

const savedFileNote = "ecm probe: how a service behaves; every address, name, id and key is replaced";

/** Before a request is spent. @throws UsageError */
function requireSavePlace(file: string): void {
  requireFileFormat(file, "json", "--save");
  requireReplaceable(
    file,
    { isOwn: (start) => start.trim() === "" || start.includes(savedFileNote) },
    "--save",
  );
}

/** Nothing in it names the account or anybody in it. */
function describeProbe(
  seen: DetectedVariants,
  rows: BehaviorRow[],
  exchanges: SeenExchange[],
  now: number,
): object {
  // Nobody has the key afterwards.
  const pseudonyms = createPseudonyms(randomBytes(32));
  return {
    what: savedFileNote,
    version,
    savedAt: new Date(now).toISOString(),
    variants: toPlayableVariants(seen),
    points: rows,
    exchanges: exchanges.map(({ exchange, milliseconds, limits }) => ({
      ...describeExchange(exchange, pseudonyms),
      milliseconds,
      limits,
    })),
  };
}

/** Private to its owner. @throws UsageError */
async function save(file: string, content: object): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new UsageError(`--save: cannot write ${file}: ${describeDiskError(error)}`);
  }
}

/** What `sandbox start --variant-file` takes, as it is typed there. */
function toPlayableVariants(seen: DetectedVariants): Record<string, string> {
  return Object.fromEntries(Object.entries(seen).map(([name, value]) => [name, String(value)]));
}
