/** From a structure and a file to the plan: nothing lost that the plan does not name. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { diffStructures, planStructure, type StructurePlan } from "../../src/structure/changes.ts";
import { parseStructureFile, type StructureSpec } from "../../src/structure/file.ts";
import type { ContactStructure } from "../../src/wire.ts";
import { runs } from "../support/runs.ts";

const fold = (label: string) => label.trim().toLowerCase();

function structureWith(labels: readonly string[], part: "fields" | "tags" = "fields"): ContactStructure {
  const things = labels.map((label, index) => ({ _id: `f${index}`, label, dataType: "text" }));
  const none = { _id: "s1", label: "Default", keyName: "Email", keyType: "email", fields: [], tags: [] };
  return { ...none, [part]: things };
}

function createPlan(labels: readonly string[], file: string, isPruning = false): StructurePlan {
  return planStructure(structureWith(labels), parseStructureFile(file, "s.yaml"), isPruning);
}

/** The label of each field afterwards, by its id; new ones by `+`. */
function afterwards(labels: readonly string[], plan: StructurePlan): string[] {
  const fields = plan.body?.fields ?? structureWith(labels).fields;
  return fields.map(({ _id, label }) => `${_id ?? "+"} ${label}`);
}

/** A file whose entries are `Town` or `Town<City`. */
function fileWith(...entries: string[]): string {
  const lines = entries.map((entry) => {
    const [label, was] = entry.split("<");
    return was === undefined ? `  - ${label}\n` : `  - label: ${label}\n    was: ${was}\n`;
  });
  return `fields:\n${lines.join("")}`;
}

it.each([
  ["two", ["A", "B"], ["D<B", "C<A"], ["f0 C", "f1 D"]],
  ["another letter case", ["City"], ["CITY<city"], ["f0 CITY"]],
  ["one that was applied", ["Town"], ["Town<City"], ["f0 Town"]],
])("renames %s are matched, with --prune too", (_name, labels, entries, expected) => {
  for (const isPruning of [false, true]) {
    const plan = createPlan(labels, fileWith(...entries), isPruning);
    expect(afterwards(labels, plan)).toEqual(expected);
    expect(plan.changes.filter(({ action }) => action === "remove" || action === "add")).toEqual([]);
  }
});

it.each([
  ["of nothing", ["Fax"], ["Town<City"], "but the account has neither"],
  ["in a chain", ["City", "Town"], ["Town<City", "Region<Town"], "but the account has both"],
  ["in a swap", ["A", "B"], ["A<B", "B<A"], "but the account has both"],
  ["onto a label that stays", ["City", "Town"], ["Town<City"], "but the account has both"],
  ["of what the file also keeps", ["City"], ["Town<City", "City"], 'both mean "City"'],
  ["of one into two", ["City"], ["Town<City", "Region<city"], 'both mean "City"'],
])("renames %s are refused, with --prune too", (_name, labels, entries, message) => {
  for (const isPruning of [false, true]) {
    expect(() => createPlan(labels, fileWith(...entries), isPruning)).toThrow(message);
  }
});

it("renames by id never give two fields one label", () => {
  const file = "fields:\n  - label: Town\n    id: f0\n";
  expect(() => createPlan(["City", "TOWN"], file)).toThrow('Two fields would be named "TOWN"');
  expect(afterwards(["City", "TOWN"], createPlan(["City", "TOWN"], file, true))).toEqual(["f0 Town"]);
  const swap = "fields:\n  - label: B\n    id: f0\n  - label: A\n    id: f1\n";
  expect(afterwards(["A", "B"], createPlan(["A", "B"], swap))).toEqual(["f0 B", "f1 A"]);
  expect(createPlan(["B", "A"], swap).changes).toEqual([]);
});

const label = fc.constantFrom("A", "B", "C", "D", "E", "a", "b", "F g");
const labels = fc.uniqueArray(label, { selector: fold, maxLength: 6 });

it("any file that says what each field is to be named is carried out: each id holds its label, and the rest goes only by name", () => {
  const target = labels.chain((before) =>
    fc.record({
      before: fc.constant(before),
      after: fc
        .array(fc.option(fc.constantFrom("", "H", "I", "L", "M")), {
          minLength: before.length,
          maxLength: before.length,
        })
        .map((all) => all.map((to, index) => (to === "" ? before[index]! : to))),
      added: fc.uniqueArray(fc.constantFrom("J", "K"), { maxLength: 2 }),
      isPruning: fc.boolean(),
      order: fc.array(fc.nat(), { minLength: 8, maxLength: 8 }),
      part: fc.constantFrom("fields" as const, "tags" as const),
    }),
  );
  fc.assert(
    fc.property(target, ({ before, after, added, isPruning, order, part }) => {
      const keptLabels = after.filter((to) => to !== null);
      fc.pre(new Set(keptLabels.map(fold)).size === keptLabels.length);
      const spec: StructureSpec = {
        [part]: [
          ...before.flatMap((was, index) => {
            const to = after[index]!;
            return to === null ? [] : [to === was ? { label: to } : { label: to, was }];
          }),
          ...added.map((each) => ({ label: each })),
        ]
          .map((entry, index) => ({ entry, weight: order[index % order.length]! }))
          .sort((one, other) => one.weight - other.weight)
          .map(({ entry }) => entry),
      };
      const structure = structureWith(before, part);
      const plan = planStructure(structure, spec, isPruning);
      const result = (plan.body ?? structure)[part]!;
      for (const [index, to] of after.entries()) {
        const now = result.find(({ _id }) => _id === `f${index}`);
        expect(now?.label).toBe(to ?? (isPruning ? undefined : before[index]));
      }
      const isNew = result.filter(({ _id }) => _id === undefined).map((each) => each.label!);
      expect(isNew.sort()).toEqual(added.toSorted());
    }),
    { numRuns: runs(100) },
  );
});

it("any file is refused, or does what its plan says: no field goes that it names, and no two get one label", () => {
  const entry = fc.record(
    {
      label,
      was: label,
      id: fc.constantFrom("f0", "f1", "f2"),
      type: fc.constantFrom("text", "number"),
      required: fc.boolean(),
    },
    { requiredKeys: ["label"] },
  );
  fc.assert(
    fc.property(labels, fc.array(entry, { maxLength: 6 }), fc.boolean(), (before, fields, isPruning) => {
      const structure = structureWith(before);
      let plan: StructurePlan;
      try {
        plan = planStructure(structure, { fields }, isPruning);
      } catch (error) {
        expect(error).toBeInstanceOf(EcmError);
        expect((error as EcmError).exitCode).toBe(2);
        return;
      }
      const result = plan.body?.fields ?? structure.fields;
      expect(new Set(result.map((each) => fold(each.label))).size).toBe(result.length);
      const done = plan.body ? diffStructures(structure, plan.body) : [];
      expect(done).toEqual(plan.changes.filter(({ action }) => action !== "keep"));
      const gone = structure.fields.filter(({ _id }) => !result.some((each) => each._id === _id));
      for (const { _id, label: own } of gone) {
        expect(isPruning).toBe(true);
        expect(fields.some(({ id }) => id === _id)).toBe(false);
        const names = fields.filter(({ id }) => id === undefined);
        expect(names.some(({ label: to, was = to }) => fold(was) === fold(own))).toBe(false);
      }
    }),
    { numRuns: runs(300) },
  );
});
