/** What the name of a column means. */
import { describe, expect, test } from "vitest";
import { findColumns, findPredefinedField, isIdName, isKeyName } from "../../src/tables/names.ts";

describe("a column holds keys", () => {
  test.each([
    ["Email", true],
    ["e-mail address", true],
    ["MAIL", true],
    ["メールアドレス", true],
    ["Courriel", true],
    ["Correo electrónico", true],
    ["adresse électronique", true],
    ["key", true],
    ["ecm:key", true],
    ["Customer No", true],
    ["", false],
    ["Email Status", false],
    ["City", false],
  ])("%s: %s", (name, holds) => {
    expect(isKeyName(name, "Customer No", "email")).toBe(holds);
  });

  test("and none that is called after e-mail where keys are no addresses", () => {
    expect([
      isKeyName("Email", "Customer No", "text"),
      isKeyName("customer no", "Customer No", "text"),
    ]).toEqual([false, true]);
  });
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

test("a column is found as it is written, else without regard to case", () => {
  const names = ["City", "city", "CITY", "Zip"];
  expect([findColumns("city", names), findColumns("zip", names), findColumns("cITY", names)]).toEqual([
    [1],
    [3],
    [0, 1, 2],
  ]);
});
