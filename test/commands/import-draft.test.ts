/** Where the columns of a file go, as a person changes it: what becomes of the answers. */
import { describe, expect, it } from "vitest";
import { Draft } from "../../src/commands/import/columns.ts";
import type { ReadOptions } from "../../src/tables/rows.ts";
import { readUnclear } from "../tables/reading.ts";

async function makeDraft(content: string, options: Partial<ReadOptions> = {}): Promise<Draft> {
  return new Draft(await (await readUnclear(content, { isReviewed: true, ...options })).propose());
}

const find = (draft: Draft, name: string) => draft.columns.find((column) => column.name === name)!;
const nothing = { map: new Map<string, string>() };
const people = "Work,Private,City,Newsletter\na@x.org,a@home.org,Oslo,ja\n,b@home.org,Rom,nein\n";
const keys = new Map([["Work", "key"]]);

describe("answers about columns", () => {
  it("take the key from the column that had it, which is ignored then", async () => {
    const draft = await makeDraft(people, { map: keys });
    draft.placeKey(find(draft, "Private"));
    const { map } = draft.applyTo({ map: keys });
    expect(new Map(map).get("Private")).toBe("key");
    expect(new Map(map).get("Work")).toBe("ignore");
  });

  it("change nothing of columns that are clear", async () => {
    const draft = await makeDraft("Email,City,Note\na@x.org,Oslo,x\n");
    const map = new Map([["Note", "Note"]]);
    expect(draft.applyTo(nothing)).toMatchObject({ map, createsFields: true, isReviewed: undefined });
  });

  it("say of a column that may be consent how it is read, wherever it goes", async () => {
    const draft = await makeDraft(people, { map: keys });
    const column = find(draft, "Newsletter");
    draft.place(column, "consent=opt-out");
    expect(new Map(draft.applyTo(nothing).map).get("Newsletter")).toBe("consent=opt-out");
    draft.place(column, "City");
    expect(draft.applyTo(nothing).consentColumns).toEqual(["Newsletter=opt-out"]);
    draft.place(column, "ignore");
    const map = new Map(Object.entries({ Private: "Private", Newsletter: "ignore" }));
    const applied = draft.applyTo({ ...nothing, consentColumns: ["newsletter"] });
    expect(applied).toMatchObject({ map, consentColumns: undefined });
  });

  it("forget a reading of another column with the answer", async () => {
    const draft = await makeDraft("Email,Ort\na@x.org,ja\n");
    draft.place(find(draft, "Ort"), "consent=opt-in");
    draft.place(find(draft, "Ort"), "City");
    const map = new Map([["Ort", "City"]]);
    expect(draft.applyTo(nothing)).toMatchObject({ map, consentColumns: undefined });
  });
});
