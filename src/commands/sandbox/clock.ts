import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { ClockView } from "../../sandbox/public-types.ts";
import { toColumns, type View } from "../../terminal/present.ts";
import { actsOn, addLocalVerb } from "./shared.ts";

const clockView: View<ClockView> = { columns: toColumns("time", "real"), id: ({ time }) => time };

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
  verb("show", "", "show the time", true).action(actsOn(context, clockView, (admin) => admin.clock()));
  verb("set", " 2027-01-31T23:59:00Z", "set the time")
    .argument("<time>", "such as 2027-01-31T12:00:00Z")
    .action(actsOn(context, clockView, (admin, time) => admin.clock({ time })));
  verb("advance", " 90m", "move the time forward")
    .argument("<duration>", "such as 90m, 12h or 30d")
    .action(actsOn(context, clockView, (admin, advance) => admin.clock({ advance })));
  verb("real", "", "go back to the real time").action(
    actsOn(context, clockView, (admin) => admin.clock({ real: true })),
  );
}
