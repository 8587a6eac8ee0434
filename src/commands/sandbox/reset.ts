import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { wholeNumberOption } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { chooseSandboxFolder, declareLocal } from "./shared.ts";

export function registerSandboxReset(parent: Command, context: Context): void {
  const command = declareLocal(parent, "reset", "delete all data of the sandbox")
    .addOption(wholeNumberOption("--seed <n>", "make ids reproducible after every reset", 0))
    .option("--everything", "set the clock back to the real time too");
  verb(context, command, {
    isLocal: true,
    asks: true,
    examples: ["ecm sandbox reset --yes", "ecm sandbox reset --seed 1 --yes"],
    output:
      "Nothing. Contacts, lists, custom fields, tags, events, other keys, the usage of the limits and the log of requests are deleted. What a running sandbox printed at its start stays valid: the URL, its key, and the id of the default structure. Clock, limits, faults and snapshots stay. Data that is damaged, or of another version, is deleted too, with its snapshots; then only the key stays.",
    async run({ seed, everything, ...flags }) {
      const folder = chooseSandboxFolder(context, flags);
      await context.confirm(`Delete all data of the sandbox in ${folder}?`);
      const { resetFolder } = await import("../../sandbox/index.ts");
      const deleted = await resetFolder({ folder, clock: context.clock }, { seed, everything });
      if (deleted === undefined) return;
      context.terminal.warn(
        `The data was ${deleted} and could not be read; started over with an empty account. Restart sandboxes that run on this folder`,
      );
    },
  });
}
