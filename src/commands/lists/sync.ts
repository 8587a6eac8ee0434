import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { addBulkFlags, toRunOptions } from "../flags/bulk.ts";
import { addKeyFileFlags, toReadOptions } from "../flags/flags.ts";
import { verb } from "../verb.ts";

export function registerListsSync(parent: Command, context: Context): void {
  const command = parent
    .command("sync")
    .description("make a list's members match a file: additions first, then removals")
    .argument("<list>", "the list's name or id")
    .argument(
      "<file>",
      "a CSV, xlsx or JSON file with a key column, or one key per line; - for standard input",
    )
    .option("--create", "create contacts that do not exist; no contact is ever deleted")
    .option("--include-suppressed", "add and create contacts even if they are on the suppression list");
  verb(context, addBulkFlags(addKeyFileFlags(command), { isSync: true }), {
    examples: [
      "ecm lists sync Newsletter members.csv --dry-run",
      "ecm lists sync Newsletter - --max-remove 25%",
    ],
    output: "Nothing; with --json one summary object, in which `members` counts additions and removals.",
    writes: true,
    exitCodes: {
      3: "finished, and some keys do not exist",
      6: "another process works on this run, or syncs the list with another file",
    },
    async run(list, file, flags) {
      const options = toRunOptions(flags, context.clock.now());
      const [{ jobs }, { startRun }] = await Promise.all([
        import("../../bulk/index.ts"),
        import("../bulk/start.ts"),
      ]);
      const stream = file === "-" ? context.terminal.stdin : undefined;
      const job = jobs.sync({
        input: { name: file, stream },
        list,
        create: flags.create ?? false,
        read: toReadOptions(flags),
        includeUnsubscribed: flags.includeUnsubscribed ?? false,
        includeSuppressed: flags.includeSuppressed ?? false,
      });
      const what = `Syncing ${list} with ${file === "-" ? "standard input" : file}`;
      await startRun(context, { job, options, flags, what, danger: "change" });
      return undefined;
    },
  });
}
