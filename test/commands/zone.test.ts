import { expect, it } from "vitest";
import { ownZone } from "../../src/commands/resources/reports.ts";

it.each([
  ["", "UTC"],
  ["Nope/Zone", "UTC"],
  ["Europe/Oslo", "Europe/Oslo"],
])("the zone of a machine where TZ is %j is %s", (zone, expected) => {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    expect(ownZone()).toBe(expected);
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});
