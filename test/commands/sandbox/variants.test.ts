/** `ecm sandbox variants`, and the flags that take them. */
import { expect, test } from "vitest";
import { variantNames } from "../../../src/sandbox/variants.ts";
import { ecmWith, temporaryHome } from "../../support/ecm.ts";

test("variants lists each value with its meaning, and marks the defaults", async () => {
  const { code, stdout } = await ecmWith(await temporaryHome())(["sandbox", "variants", "--json"]);
  expect(code).toBe(0);
  const rows: { name: string; value: string; isDefault: boolean; means: string }[] = JSON.parse(stdout);
  expect([...new Set(rows.map(({ name }) => name))]).toEqual(variantNames);
  expect(rows.filter(({ isDefault }) => isDefault)).toHaveLength(variantNames.length);
  expect(rows).toContainEqual({
    name: "keys",
    value: "first",
    isDefault: false,
    means: expect.stringContaining("KEY EQ"),
  });
});

test("start and exec take variants and refuse what is none", async () => {
  const ecm = ecmWith(await temporaryHome());
  // Ends with 3 where the lists come as an array, and with 4 where the hour is told.
  const program = `fetch(process.env.ECM_BASE_URL + "/api/contact-structure", { headers: { "X-API-Key": process.env.ECM_API_KEY } })
    .then(async (answer) => {
      const [{ _id }] = await answer.json();
      const lists = await fetch(process.env.ECM_BASE_URL + "/api/contact-structure/" + _id + "/lists", { headers: { "X-API-Key": process.env.ECM_API_KEY } });
      if (answer.headers.has("x-ratelimit-limit")) process.exit(4);
      process.exit(Array.isArray(await lists.json()) ? 3 : 0);
    })`;
  const variants = ["--variant", "lists=array", "--variant", "hourly-headers=missing"];
  const child = ["--", process.execPath, "-e", program];
  expect((await ecm(["sandbox", "exec", ...variants, ...child])).code).toBe(3);
  const over = ["--variant", "hourly-headers=missing"];
  expect((await ecm(["sandbox", "exec", ...over, ...child])).code).toBe(0);
  for (const [flag, value, hint] of [
    ["--variant", "keys=none", "any, refused, first"],
    ["--variant", "key=any", "mutate-elements"],
    ["--variant", "keys", "sandbox variants"],
  ] as const) {
    for (const command of ["start", "exec"]) {
      const child = command === "exec" ? "-- true" : "";
      const { code, stdout, stderr } = await ecm(`sandbox ${command} ${flag} ${value} ${child}`);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(flag);
      expect(stderr).toContain(hint);
    }
  }
});
