/** What the bulk engine makes of a service that decides otherwise what its documents leave open. */
import { describe, expect, it } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { contactsIn, inputFile, manyRows, summaryOf } from "./kit.ts";

describe("somebody who unsubscribed, where searches hide who is inactive", () => {
  it("is skipped, not created and not rejected, without waiting", async () => {
    const service = await startSandbox({ variants: { inactive: "hidden" } });
    const { ecm } = service;
    await ecm(["import", await inputFile(manyRows(3))]);
    expect((await ecm(["contact", "unsubscribe", "p1@example.com", "-y"])).code).toBe(0);
    const result = await ecm(["import", await inputFile(manyRows(4, () => "New")), "--json"], {
      clock: { now: () => Date.now(), sleep: () => Promise.reject(new Error("nothing is to be waited for")) },
    });
    expect(summaryOf(result)).toMatchObject({
      rows: { created: 1, updated: 2, skipped: 1, rejected: 0 },
      codes: { skipped: { exists_hidden: 1 } },
      inactive: 1,
    });
    const key = await ecm([
      "contact",
      "mutate",
      "--keys",
      await inputFile("p1@example.com\n", "k.txt"),
      "--set",
      "First Name=X",
      "--json",
      "-y",
    ]);
    expect(key.code).toBe(3);
    expect((await contactsIn(service)).get("p0@example.com")).toMatchObject({
      fields: { "First Name": "New" },
    });
  });
});
