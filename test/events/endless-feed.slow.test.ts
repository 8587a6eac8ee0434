/**
 * A feed that tells other events on every page, for ever, is an error:
 * nothing is shown, and nothing counts as shown.
 */
import { expect, it } from "vitest";
import { json } from "../support/http-server.ts";
import { startService } from "../support/service.ts";

it("a feed without an end is an error, and shows nothing", async () => {
  let isEndless = true;
  const event = (number: number) => ({
    timestamp: new Date(Date.now() - 3_600_000 - number).toISOString(),
    type: "email-opened",
    contactId: `c${number}`,
  });
  const { ecm } = await startService((request, response, count) => {
    const page = Number(new URL(request.url, "http://x").searchParams.get("page"));
    const records = isEndless ? [event(2 * count), event(2 * count + 1)] : [event(page)].slice(page - 1);
    json(response, 200, { records });
  });
  for (const flags of [["--since", "last"], ["--all"]]) {
    const { code, stdout, stderr } = await ecm(["events", ...flags, "-o", "id"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("The feed of events has no end: 3,600 pages were read");
  }
  isEndless = false;
  expect((await ecm(["events", "--since", "last", "-o", "id"])).stdout).toBe("c1\n");
});
