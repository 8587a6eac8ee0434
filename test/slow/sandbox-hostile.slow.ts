/** More hostile requests than the quick suite has time for. */
import { test } from "vitest";
import { withstand, withstandAsAdmin } from "../sandbox/hostile.ts";

test("20,000 hostile requests: each is answered or refused in the documented form, and refusals keep nothing", async () => {
  await withstand(20_000);
});

test("10,000 hostile requests to /__sandbox/: each is answered or refused in the documented form, and none is a failure", async () => {
  await withstandAsAdmin(10_000);
});
