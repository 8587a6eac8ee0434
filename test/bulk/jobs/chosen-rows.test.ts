/** Whom a file of people means that marks some of them as not subscribed. */
import { describe, expect, it } from "vitest";
import { chooseRows } from "../../../src/bulk/jobs/edit.ts";
import type { Survey } from "../../../src/tables/index.ts";

type Verb = Parameters<typeof chooseRows>[0];

/** Of ten rows. */
function surveyed(clearlyMarked: number, columns = ["Subscribed"]): Survey {
  return { read: 10, consent: { clearlyMarked, columns } } as unknown as Survey;
}

describe("whom a file means", () => {
  const cases: [verb: Verb, rows: "marked" | "all" | undefined, marked: number, expected: unknown][] = [
    ["unsubscribe", "all", 3, "all"],
    ["unsubscribe", "marked", 3, "marked"],
    ["unsubscribe", undefined, 10, undefined],
    ["unsubscribe", undefined, 3, "Pass --marked-rows to unsubscribe those alone"],
    ["unsubscribe", undefined, 0, "Pass --marked-rows to unsubscribe those alone"],
    ["suppress", undefined, 0, "Pass --marked-rows to suppress those alone"],
    ["delete", undefined, 0, undefined],
    ["delete", undefined, 1, "Pass --marked-rows to delete those alone"],
  ];
  it.each(cases)("%s, --%s-rows, %d of 10 marked: %s", async (verb, rows, marked, expected) => {
    const chosen = chooseRows(verb, rows, surveyed(marked), {}).catch(({ details }) => String(details.hint));
    if (expected === undefined || expected === rows) expect(await chosen).toBe(expected);
    else expect(await chosen).toContain(expected);
  });

  it("is everyone where no column marks anybody, and --marked-rows is refused", async () => {
    expect(await chooseRows("unsubscribe", undefined, surveyed(0, []), {})).toBe(undefined);
    await expect(chooseRows("unsubscribe", "marked", surveyed(0, []), {})).rejects.toThrow(
      "--marked-rows: the file has no column",
    );
  });

  it("is everyone in our own export without a mark, and in it who is marked is asked for", async () => {
    expect(await chooseRows("unsubscribe", undefined, surveyed(0), { system: "ecm" })).toBe(undefined);
    const askRows = async ({ marked, all }: { marked: number; all: number }) =>
      marked === 3 && all === 10 ? ("marked" as const) : ("all" as const);
    expect(await chooseRows("delete", undefined, surveyed(3), { system: "ecm", askRows })).toBe("marked");
  });
});
