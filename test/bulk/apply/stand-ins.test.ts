/** Names that did not exist when a plan was made are ids once they do. */
import { expect, it } from "vitest";
import { replaceStandIns } from "../../../src/bulk/apply/apply-plan.ts";
import type { Before, Desired } from "../../../src/bulk/desired.ts";
import { toValues } from "../../../src/bulk/values.ts";

const ids = new Map([
  ["new list L", "l1"],
  ["new tag T", "t1"],
]);
const wish = (changes: Parameters<typeof toValues>[0]): Desired => ({
  values: toValues(changes),
  absent: "create",
  present: "change",
  mayJoinLists: true,
});

it("wherever they stand", () => {
  const desired = wish({ addLists: ["new list L"], removeLists: ["old"], addTags: ["new tag T"] });
  const real = wish({ addLists: ["l1"], removeLists: ["old"], addTags: ["t1"] });
  expect(replaceStandIns({ desired }, ids).desired).toEqual(real);
  const before = (id: string): Before => ({
    id: "c",
    version: 3,
    values: [{ what: "tag", id, to: false }],
  });
  expect(replaceStandIns({ desired, before: before("new tag T") }, ids).before).toEqual(before("t1"));
});

it("but not until then, and not where a value reads like one", () => {
  const desired = wish({ fields: [["f", "new list L"]] });
  expect(replaceStandIns({ desired }, ids).desired).toEqual(desired);
  const byName = wish({ addLists: ["new list L"] });
  expect(replaceStandIns({ desired: byName }, new Map()).desired).toBe(byName);
});
