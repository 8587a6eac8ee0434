/** What the name of a column means. */
import { expect, test } from "vitest";
import { findColumns, findPredefinedField, isKeyName } from "../../src/tables/header-names.ts";

test("a column that is called after e-mail holds no keys where they are no addresses", () => {
  expect(isKeyName("Email", "Customer No", "email")).toBe(true);
  expect(isKeyName("Email", "Customer No", "text")).toBe(false);
  expect(isKeyName("customer no", "Customer No", "text")).toBe(true);
});

test.each([
  ["first_name", "firstName"],
  ["Vorname", "firstName"],
  ["given_name", "firstName"],
  ["Prénom", "firstName"],
  ["名", "firstName"],
  ["SURNAME", "lastName"],
  ["nom de famille", "lastName"],
  ["Name", undefined],
])("a column %s fills %s", (name, field) => expect(findPredefinedField(name)).toBe(field));

test.each([
  ["city", [1]],
  ["zip", [3]],
  ["cITY", [0, 1, 2]],
])("a column is found as it is written, else without regard to case: %s", (name, places) => {
  expect(findColumns(name, ["City", "city", "CITY", "Zip"])).toEqual(places);
});
