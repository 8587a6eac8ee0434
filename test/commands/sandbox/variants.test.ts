/** `ecm sandbox variants`, and the flags that take them. */
import { expect, test } from "vitest";
import { variantNames } from "../../../src/sandbox/variants.ts";
import { done, ecmWith, refused, temporaryHome } from "../../support/ecm.ts";

test("variants lists each value with its meaning, and marks the defaults", async () => {
  const listed = await done(ecmWith(await temporaryHome())("sandbox variants --json"));
  const rows: { name: string; value: string; isDefault: boolean; means: string }[] = JSON.parse(listed);
  expect([...new Set(rows.map(({ name }) => name))]).toEqual(variantNames);
  expect(rows.filter(({ isDefault }) => isDefault)).toHaveLength(variantNames.length);
  const means = expect.stringContaining("KEY EQ");
  expect(rows).toContainEqual({ name: "keys", value: "first", isDefault: false, means });
});

test("start and exec take variants and refuse what is none", async () => {
  const ecm = ecmWith(await temporaryHome());
  // Ends with 3 where the lists come as an array and the hour is not told.
  const program = `
    const read = (path) => fetch(process.env.ECM_BASE_URL + "/api/contact-structure" + path,
      { headers: { "x-api-key": process.env.ECM_API_KEY } });
    const [{ _id }] = await (await read("")).json();
    const lists = await read("/" + _id + "/lists");
    process.exit(Array.isArray(await lists.json()) && !lists.headers.has("x-ratelimit-limit") ? 3 : 0);`;
  const variants = "--variant lists=array --variant hourly-headers=missing".split(" ");
  const child = ["--", process.execPath, "--input-type=module", "-e", program];
  expect((await ecm(["sandbox", "exec", ...variants, ...child])).code).toBe(3);
  for (const [variant, hint] of [
    ["keys=none", "any, refused, first"],
    ["key=any", "mutate-elements"],
    ["keys", "sandbox variants"],
  ] as const) {
    for (const command of ["start", "exec -- true"]) {
      const [verb, ...rest] = command.split(" ");
      await refused(ecm(["sandbox", verb!, "--variant", variant, ...rest]), 2, "--variant", hint);
    }
  }
});
