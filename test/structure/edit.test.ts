import fc from "fast-check";
import { expect, it } from "vitest";
import { planStructure } from "../../src/structure/changes.ts";
import {
  addField,
  addTags,
  removePart,
  renamePart,
  toUpdateBody,
  updateNames,
} from "../../src/structure/edit.ts";
import { formatStructureFile, parseStructureFile, toStructureSpec } from "../../src/structure/file.ts";
import type { ContactStructure, UpdateStructureBody } from "../../src/wire.ts";
import { runs } from "../support/runs.ts";
import { plainStructure } from "../support/service.ts";

const label = fc.oneof(
  fc.string({ minLength: 1, unit: "grapheme" }),
  fc.constantFrom(
    ...["no", "2024", "a: b", "# c", "- d", "名前", "a=b", "|", "~", "'", '"'],
    ...["x\ny", " edge ", "&a", "\u0085"],
  ),
);
const id = fc.stringMatching(/^[0-9a-f]{24}$/);
/** Attributes that a service of tomorrow may send. */
const more = fc.dictionary(
  fc.stringMatching(/^x[A-Za-z]{0,6}$/),
  fc.jsonValue().filter((value) => value !== undefined),
);
const field = fc
  .record({ _id: id, label, dataType: fc.constantFrom("text", "date"), required: fc.boolean() })
  .chain((known) => more.map((rest) => ({ ...rest, ...known })));
const tag = fc.record({ _id: id, label }).chain((known) => more.map((rest) => ({ ...rest, ...known })));
const structure = fc
  .record({
    _id: id,
    label,
    keyName: label,
    keyType: fc.constant("email"),
    fields: fc.uniqueArray(field, { selector: ({ _id }) => _id, maxLength: 6 }),
    tags: fc.uniqueArray(tag, { selector: ({ _id }) => _id, maxLength: 6 }),
    __v: fc.nat(),
  })
  .chain((known) => more.map((rest) => ({ ...rest, ...known }) as ContactStructure));

/** What the service holds afterwards. It takes the five published members and no other. */
function stored(before: ContactStructure, body: UpdateStructureBody): unknown {
  expect(Object.keys(body).sort()).toEqual(["__v", "fields", "keyName", "label", "tags"]);
  return { ...before, ...body };
}

it("an edit of a structure changes what it names or nothing, sends back the rest whole, attributes that we do not know included, and leaves alone what it was given", () => {
  fc.assert(
    fc.property(structure, (before) => {
      const untouched = structuredClone(before);
      expect(stored(before, toUpdateBody(before))).toEqual(before);
      const fresh = "a label that nobody has";
      const expectStored = (body: UpdateStructureBody | undefined, after: ContactStructure) =>
        expect(stored(before, body!)).toEqual(after);
      expectStored(updateNames(before, { label: fresh }), { ...before, label: fresh });
      const tagsAfter = [...before.tags!, { label: fresh } as never];
      expectStored(addTags(before, [fresh, fresh.toUpperCase()]), { ...before, tags: tagsAfter });
      const added = { label: fresh, dataType: "text", required: true };
      expectStored(addField(before, added), { ...before, fields: [...before.fields, added as never] });
      for (const [kind, part] of [
        ["field", "fields"],
        ["tag", "tags"],
      ] as const) {
        const [first, ...others] = before[part]!;
        if (!first) continue;
        const renamed = [{ ...first, label: fresh }, ...others];
        expectStored(renamePart(before, kind, first._id, fresh), { ...before, [part]: renamed });
        expectStored(removePart(before, kind, first._id), { ...before, [part]: others });
      }
      expect(before).toEqual(untouched);
    }),
    { numRuns: runs(20) },
  );
});

it("a structure file that was just pulled says nothing that is not so, whatever the labels hold", () => {
  const readable = structure.filter(({ label: own, keyName, fields, tags }) =>
    [own, keyName, ...fields.map((each) => each.label), ...tags!.map((each) => each.label)].every(
      (each) => each.trim() !== "" && !/[\ud800-\udfff]/u.test(each),
    ),
  );
  fc.assert(
    fc.property(readable, (before) => {
      const text = formatStructureFile(toStructureSpec(before));
      const plan = planStructure(before, parseStructureFile(text, "structure.yaml"), true);
      expect(plan.changes, text).toEqual([]);
      expect(plan.body).toBeUndefined();
    }),
    { numRuns: runs(20) },
  );
});

it("a structure file looks after the parts that it names and no other", () => {
  const fields = [{ _id: "f1", label: "City", dataType: "text" }];
  const before = { ...plainStructure, fields, tags: [{ _id: "t1", label: "vip" }] };
  const plan = (text: string) => planStructure(before, parseStructureFile(text, "s.yaml"), true);
  expect(plan("tags: [vip]\n").changes).toEqual([]);
  expect(plan("label: Default\n").changes).toEqual([]);
  expect(plan("tags:\n").changes).toEqual([{ action: "remove", part: "tag", _id: "t1", label: "vip" }]);
  const rename = { action: "rename", part: "field", _id: "f1", label: "City", to: "city" };
  expect(plan("fields: [city]\n").changes).toEqual([rename]);
  expect(plan("fields:\n  - label: City\n    was: Place\n").changes).toEqual([]);
});
