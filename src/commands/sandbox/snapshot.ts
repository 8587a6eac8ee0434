import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { Snapshot } from "../../sandbox/public-types.ts";
import type { View } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { declareLocal, localVerb } from "./shared.ts";

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
  const add = (name: string, description: string) => declareLocal(group, name, description);
  const missing = { 5: "no such snapshot" };
  const saving = add("save", "save the account under a name, replacing an earlier snapshot");
  localVerb(context, saving.argument("<name>", "letters, digits, '.', '_' and '-'"), {
    examples: ["ecm sandbox snapshot save before-import"],
    output: oneSnapshot,
    view: snapshotView,
    act: ({ snapshots }, name) => snapshots.save(name),
  });
  localVerb(context, add("load", "restore the account from a snapshot").argument("<name>", "its name"), {
    examples: ["ecm sandbox snapshot load before-import"],
    output: `${oneSnapshot} Clock, limits, faults and the log of requests do not change.`,
    exitCodes: missing,
    view: snapshotView,
    act: ({ snapshots }, name) => snapshots.load(name),
  });
  localVerb(context, addOutputFileFlags(add("list", "show the snapshots")), {
    examples: ["ecm sandbox snapshot list"],
    output: "One line per snapshot, by name.",
    view: snapshotView,
    act: ({ snapshots }) => snapshots(),
  });
  localVerb(context, add("remove", "remove a snapshot").argument("<name>", "its name"), {
    examples: ["ecm sandbox snapshot remove before-import"],
    output: "Nothing.",
    exitCodes: missing,
    view: snapshotView,
    act({ snapshots }, name) {
      snapshots.remove(name);
      return undefined;
    },
  });
}
