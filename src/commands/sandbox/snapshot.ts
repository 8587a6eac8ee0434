import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { Snapshot } from "../../sandbox/public-types.ts";
import type { View } from "../../terminal/present.ts";
import { actsOn, addLocalVerb } from "./shared.ts";

const snapshotView: View<Snapshot> = {
  columns: [
    { name: "name", value: (snapshot) => snapshot.name, isWhole: true },
    { name: "saved at", value: (snapshot) => snapshot.savedAt, isTime: "minute" },
  ],
  id: (snapshot) => snapshot.name,
  empty: "No snapshots yet. Save one with: ecm sandbox snapshot save NAME",
};
const oneSnapshot = "The snapshot: name, savedAt.";

export function registerSandboxSnapshot(parent: Command, context: Context): void {
  const group = parent.command("snapshot").description("save and restore the sandbox's account");
  const verb = (name: string, description: string, output: string, exitCodes: Record<number, string> = {}) =>
    addLocalVerb(group, {
      name,
      description,
      examples: [`ecm sandbox snapshot ${name}${name === "list" ? "" : " before-import"}`],
      output,
      exitCodes,
    });
  const missing = { 5: "no such snapshot" };
  verb("save", "save the account under a name, replacing an earlier snapshot", oneSnapshot)
    .argument("<name>", "letters, digits, '.', '_' and '-'")
    .action(actsOn(context, snapshotView, ({ snapshots }, name) => snapshots.save(name)));
  verb(
    "load",
    "restore the account from a snapshot",
    `${oneSnapshot} Clock, limits, faults and the log of requests do not change.`,
    missing,
  )
    .argument("<name>", "its name")
    .action(actsOn(context, snapshotView, ({ snapshots }, name) => snapshots.load(name)));
  verb("list", "show the snapshots", "One line per snapshot, by name.").action(
    actsOn(context, snapshotView, ({ snapshots }) => snapshots()),
  );
  verb("remove", "remove a snapshot", "Nothing.", missing)
    .argument("<name>", "its name")
    .action(
      actsOn(context, snapshotView, ({ snapshots }, name) => {
        snapshots.remove(name);
        return undefined;
      }),
    );
}
