/** What the name of a column means. */
import { expect, test } from "vitest";
import { findColumns, findPredefinedField, isIdName, isKeyName } from "../../src/tables/names.ts";

const keyNames = "Email|e-mail address|MAIL|メールアドレス|Courriel|Correo electrónico|adresse électronique";
const otherNames = ["", "Email Status", "City"];

test.each([...keyNames.split("|"), "key", "ecm:key", "Customer No"])("a column %s holds keys", (name) => {
  expect(isKeyName(name, "Customer No", "email")).toBe(true);
});

test.each(otherNames)("a column %j holds none", (name) => {
  expect(isKeyName(name, "Customer No", "email")).toBe(false);
});

test("none that is called after e-mail holds keys where they are no addresses", () => {
  expect(isKeyName("Email", "Customer No", "text")).toBe(false);
  expect(isKeyName("customer no", "Customer No", "text")).toBe(true);
});

test.each([
  ["_id", true],
  [" ECM:_ID ", true],
  ["id", false],
])("a column %s holds ids: %s", (name, holds) => {
  expect(isIdName(name)).toBe(holds);
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
])("a column %s fills %s", (name, field) => {
  expect(findPredefinedField(name)).toBe(field);
});

test.each([
  ["city", [1]],
  ["zip", [3]],
  ["cITY", [0, 1, 2]],
])("a column is found as it is written, else without regard to case: %s", (name, places) => {
  expect(findColumns(name, ["City", "city", "CITY", "Zip"])).toEqual(places);
});
