import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { ClockChange, ClockView } from "../../sandbox/public-types.ts";
import type { View } from "../../terminal/present.ts";
import { presents } from "../output/presents.ts";
import { addLocalVerb, type DataFlag, withAdmin } from "./shared.ts";

const clockView: View<ClockView> = {
  columns: [
    { name: "time", value: (clock) => clock.time },
    { name: "real", value: (clock) => clock.real },
  ],
  id: (clock) => clock.time,
};

export function registerSandboxClock(parent: Command, context: Context): void {
  const group = parent
    .command("clock")
    .description("the sandbox's time: rate-limit windows, months, expiry and timestamps follow it");
  const verb = (name: string, words: string, description: string, isDefault = false) =>
    addLocalVerb(group, {
      name,
      description,
      isDefault,
      examples: [`ecm sandbox clock ${name}${words}`],
      output:
        "time; real: whether it is the real time. The clock runs on from where it was set, in running sandboxes of the folder too.",
    });
  const shown = { view: clockView };
  const run = async (flags: DataFlag, change?: ClockChange) => ({
    one: await withAdmin(context, flags, (admin) => admin.clock(change)),
  });

  verb("show", "", "show the time", true).action(presents(context, shown, (flags) => run(flags)));
  verb("set", " 2027-01-31T23:59:00Z", "set the time")
    .argument("<time>", "such as 2027-01-31T12:00:00Z")
    .action(presents(context, shown, (time, flags) => run(flags, { time })));
  verb("advance", " 90m", "move the time forward")
    .argument("<duration>", "such as 90m, 12h or 30d")
    .action(presents(context, shown, (advance, flags) => run(flags, { advance })));
  verb("real", "", "go back to the real time").action(
    presents(context, shown, (flags) => run(flags, { real: true })),
  );
}
