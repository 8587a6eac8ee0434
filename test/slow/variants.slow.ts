/** The journeys of the client against a service that decides otherwise what its documents leave open. */
import { describe, expect, it } from "vitest";
import { inputFile, manyRows, summaryOf } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";

const variants: Record<string, string>[] = [
  {},
  { keys: "refused" },
  { keys: "first" },
  { "max-keys": "7" },
  { "max-keys": "1" },
  { page: "cap:10" },
  { page: "refuse:30" },
  { lists: "array", created: "201", structures: "slim" },
  { "mutate-elements": "object" },
  { "mutate-elements": "id" },
  { "mutate-answer": "empty" },
  { "mutate-answer": "other" },
  { noop: "NothingToDoError" },
  { status: "object" },
  { "key-case": "exact" },
  { inactive: "hidden" },
  { "unknown-members": "ignore" },
  { "hourly-headers": "missing" },
  { keys: "first", page: "cap:10" },
  { keys: "refused", "max-keys": "20", page: "refuse:25" },
];
const nameOf = (each: Record<string, string>) =>
  Object.entries(each)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ") || "the documents";

describe("an import, run twice, and changes after it", () => {
  it.each(variants.map((each) => [nameOf(each), each] as const))("with %s", async (_name, given) => {
    const service = await startSandbox({ variants: given });
    const { ecm } = service;
    const path = await inputFile(manyRows(130));
    const args = ["import", path, "--list", "L", "--tag", "T", "--create-missing", "--json"];
    const first = await ecm(args);
    expect(first.code, first.stderr).toBe(0);
    expect(summaryOf(first).rows).toMatchObject({ created: 130, rejected: 0, skipped: 0 });

    // 20 that are not in it make the account larger than the page by which it could be read at once.
    const again = summaryOf(await ecm(args));
    expect(again.rows).toMatchObject({ unchanged: 130, created: 0, updated: 0 });
    expect(again.requests).toMatchObject({ create: 0, mutate: 0 });
    const third = summaryOf(await ecm(args));
    expect(third.requests.total).toBeLessThanOrEqual(again.requests.total);

    const some = await inputFile(
      "Email,First Name\np1@example.com,One\np2@example.com,Two\nq@example.com,Q\n",
    );
    const change = await ecm(["import", some, "--list", "M", "--create-missing", "--json"]);
    expect(summaryOf(change).rows, change.stderr).toMatchObject({ created: 1, updated: 2, rejected: 0 });
    const keys = await inputFile("p1@example.com\np3@example.com\nnobody@example.com\n", "keys.txt");
    const mutated = await ecm(["contact", "mutate", "--keys", keys, "--remove-tag", "T", "--json", "-y"]);
    expect(summaryOf(mutated).rows, mutated.stderr).toMatchObject({ updated: 2, rejected: 1 });
    const undone = await ecm(["runs", "undo", summaryOf(mutated).run!, "--json", "-y"]);
    expect(summaryOf(undone).rows, undone.stderr).toMatchObject({ updated: 2 });
    const members = await inputFile("p1@example.com\nq@example.com\np9@example.com\n", "members.txt");
    const synced = await ecm(["lists", "sync", "M", members, "--max-remove", "50%", "--json", "-y"]);
    expect(summaryOf(synced).members, synced.stderr).toEqual({ added: 1, removed: 1 });
    const found = await ecm([
      "contact",
      "search",
      ...["p1", "p5", "no"].map((each) => `${each}@example.com`),
      "-o",
      "id",
    ]);
    expect(found.stdout.trim().split("\n"), found.stderr).toHaveLength(2);
    const exported = await ecm(["export", "--list", "L", "--tag", "T", "-o", "ndjson"]);
    expect(exported.stdout.trim().split("\n"), exported.stderr).toHaveLength(130);
  });
});
