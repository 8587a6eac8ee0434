import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import type { ClockView } from "../../sandbox/public-types.ts";
import { toColumns, type View } from "../../terminal/present.ts";
import { declareLocal, localVerb } from "./shared.ts";

const clockView: View<ClockView> = { columns: toColumns("time", "real"), id: ({ time }) => time };

export function registerSandboxClock(parent: Command, context: Context): void {
  const group = parent
    .command("clock")
    .description("the sandbox's time: rate-limit windows, months, expiry and timestamps follow it");
  const shared = {
    view: clockView,
    output:
      "time; real: whether it is the real time. The clock runs on from where it was set, in running sandboxes of the folder too.",
  };
  localVerb(context, declareLocal(group, "show", "show the time", true), {
    ...shared,
    examples: ["ecm sandbox clock show"],
    act: (admin) => admin.clock(),
  });
  const setting = declareLocal(group, "set", "set the time");
  localVerb(context, setting.argument("<time>", "such as 2027-01-31T12:00:00Z"), {
    ...shared,
    examples: ["ecm sandbox clock set 2027-01-31T23:59:00Z"],
    act: (admin, time) => admin.clock({ time }),
  });
  const advancing = declareLocal(group, "advance", "move the time forward");
  localVerb(context, advancing.argument("<duration>", "such as 90m, 12h or 30d"), {
    ...shared,
    examples: ["ecm sandbox clock advance 90m"],
    act: (admin, advance) => admin.clock({ advance }),
  });
  localVerb(context, declareLocal(group, "real", "go back to the real time"), {
    ...shared,
    examples: ["ecm sandbox clock real"],
    act: (admin) => admin.clock({ real: true }),
  });
}
