import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { exitCodes, UsageError } from "../../errors.ts";
import { presentList } from "../../terminal/present.ts";
import type { ContactStructure } from "../../wire.ts";
import { describeCommand } from "../help-text.ts";
import { openSuppressionList } from "../suppression-list.ts";
import { keysOf, requireKeys, suppressedView } from "./view.ts";

interface SuppressionsAddFlags {
  keys?: string;
}

export function registerSuppressionsAdd(parent: Command, context: Context): void {
  const command = parent
    .command("add")
    .description("suppress keys: import, lists sync and contact create skip them")
    .argument("[key...]", "contact keys, such as email addresses")
    .option("--keys <file>", "a file of keys: one per line, or a CSV with a key column; - for standard input")
    .action((keys: string[], flags: SuppressionsAddFlags) => runSuppressionsAdd(context, keys, flags));
  describeCommand(command, {
    isLocal: true,
    examples: ["ecm suppressions add ada@example.com", "ecm suppressions add --keys erased.txt"],
    output: "The keyed hash of each key, and when it was added: { hash, addedAt }. No address is stored.",
    exitCodes: {
      1: "the list cannot be read or written",
      3: "added, but some lines of the file have no valid key",
    },
  });
}

async function runSuppressionsAdd(
  context: Context,
  given: string[],
  flags: SuppressionsAddFlags,
): Promise<void> {
  const { terminal } = context;
  if (flags.keys !== undefined && given.length > 0) {
    throw new UsageError("--keys names all keys and cannot be used with others", "Leave out one of the two");
  }
  const output = context.output();
  if (flags.keys === undefined) requireKeys(given, "ecm suppressions add KEY");
  const { keys, rejected } =
    flags.keys === undefined ? { keys: given, rejected: [] } : await keysIn(context, flags.keys);
  const list = await openSuppressionList(context, { mayBeMissing: true });
  const { entries, added } = list.add(keys, context.clock.now());
  const known = entries.length - added;
  terminal.note(
    `Added ${keysOf(added)} to the suppression list${known > 0 ? `; ${keysOf(known)} ${known === 1 ? "was" : "were"} already on it` : ""}`,
  );
  for (const line of rejected.slice(0, mostLinesShown)) terminal.note(line, "needed");
  if (rejected.length > 0) {
    terminal.note(
      `${keysOf(rejected.length)} of the file not added: fix them and add the file again`,
      "needed",
    );
    context.endWith(exitCodes.rejectedRows);
  }
  await presentList(terminal, output, entries, suppressedView);
}

const mostLinesShown = 20;

/** The list knows no structure: keys are read as addresses, which is what decides whether two are one person. */
const addresses: ContactStructure = {
  _id: "",
  label: "",
  keyName: "Email",
  keyType: "email",
  fields: [],
  tags: [],
};

async function keysIn(context: Context, file: string): Promise<{ keys: string[]; rejected: string[] }> {
  const [{ readRows, understandKeys }, { spool, streamAt }, { randomBytes }] = await Promise.all([
    import("../../bulk/input/index.ts"),
    import("../../bulk/input/spool.ts"),
    import("node:crypto"),
  ]);
  const stream = file === "-" ? context.terminal.stdin : await streamAt(file, context.signal);
  const path = stream ? join(tmpdir(), `ecm-keys-${randomBytes(6).toString("hex")}`) : file;
  const scratch = join(tmpdir(), `ecm-unpacked-${randomBytes(6).toString("hex")}`);
  const name = file === "-" ? "standard input" : file;
  try {
    if (stream) await spool(stream, name, path, context.signal);
    const keys: string[] = [];
    const rejected: string[] = [];
    for await (const row of readRows(
      await understandKeys({ path, name, scratch }, { map: new Map() }, addresses),
    )) {
      if (row.kind === "row") keys.push(row.key.sent);
      else rejected.push(`${name}:${row.line}: ${row.message}`);
    }
    return { keys, rejected };
  } finally {
    if (stream) await rm(path, { force: true });
    await rm(scratch, { recursive: true, force: true });
  }
}
