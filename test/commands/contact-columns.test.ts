import { describe, expect, it } from "vitest";
import { createContactColumnsView, createContactHeaders } from "../../src/commands/output/contact-columns.ts";
import type { ContactStructure } from "../../src/wire.ts";

const structure = (...labels: string[]): ContactStructure => ({
  _id: "s1",
  label: "Default",
  keyName: "Email",
  keyType: "email",
  fields: labels.map((label, index) => ({ _id: `f${index}`, label, dataType: "text" })),
  tags: [{ _id: "t1", label: "vip, gold" }],
});

const listColumnNames = (...labels: string[]) =>
  createContactColumnsView(structure(...labels)).columns.map((column) => column.name);

describe("the columns of contacts", () => {
  it("are the key, each field by its label, lists, tags, status and creation; the rest on demand", () => {
    const { columns } = createContactColumnsView(structure("名", "City"));
    const names = (isOptional: boolean) =>
      columns.filter(({ optional = false }) => optional === isOptional).map(({ name }) => name);
    expect(names(false)).toEqual(["key", "名", "City", "lists", "tags", "status", "createdAt"]);
    expect(names(true)).toEqual(["updatedAt", "_id", "__v"]);
  });

  it("give way with ecm: when a field is labelled like one of them, whatever its case", () => {
    expect(listColumnNames("Status").slice(0, 4)).toEqual(["ecm:key", "Status", "ecm:lists", "ecm:tags"]);
  });

  it("stay apart when two fields share a label, or one is named with the prefix", () => {
    const { fields } = createContactHeaders(structure("City", "city", "Zip", "ecm:key", ""));
    expect([...fields.values()]).toEqual(["f0", "f1", "Zip", "f3", "f4"]);
  });

  it("show names, but the id of a list or tag without one, or whose name would be read as another's, or as several", () => {
    const names = ["News", "News ", "twin", "twin", "VIP", "vip", " ", "l1", " own "];
    const lists = names.map((name, at) => ({ _id: `l${at + 1}`, name }));
    const tags = ["t1", "t2"].map((_id) => ({ _id, label: "A" }));
    const { columns } = createContactColumnsView({ ...structure(), tags }, lists);
    const held = [...lists, { _id: "unknown" }].map(({ _id }) => ({ _id }));
    const column = (wanted: string) => columns.find(({ name }) => name === wanted)!;
    const cell = (name: string) => column(name).value({ lists: held, tags: [{ _id: "t2" }] });
    expect(cell("lists")).toEqual(["News", "l2", "l3", "l4", "VIP", "vip", "l7", "l8", " own ", "unknown"]);
    expect(cell("tags")).toEqual(["t2"]);
  });
});
