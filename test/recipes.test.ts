import { expect, it } from "vitest";
import { contacts, machineWith, membersOf, readRecipes, recipe, runs, silent } from "./recipes.kit.ts";

it("has seven scripts", async () => {
  const names = [
    "crm-sync",
    "list-mirror",
    "warehouse-export",
    "quota-watch",
    "crm-feedback",
    "key-rotation",
    "approved-plan",
  ];
  expect([...(await readRecipes()).keys()]).toEqual(names);
});

recipe("crm-sync", () => {
  it("is silent on a good night, and writes nothing twice on the next", { tags: "slow" }, async () => {
    const { script, ecm, file } = await machineWith("Customers");
    const env = { CRM_EXPORT: await file("crm.csv", contacts(30)) };
    expect(await script("crm-sync", env)).toEqual(silent);
    expect(await membersOf(ecm, "Customers")).toBe(30);
    expect(await script("crm-sync", env)).toEqual(silent);
    expect((await runs(ecm))[0]).toMatchObject({ rows: { read: 30, unchanged: 30, created: 0 } });
  });
});
