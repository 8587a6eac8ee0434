/** Members of any of several lists: all of them are found, or it is said that the service does not find them. */
import { describe, expect, it } from "vitest";
import type { Filter } from "../../src/wire.ts";
import { contactsIn, summaryOf } from "../bulk/kit.ts";
import { startWitness, type Witness } from "../journeys/witness.ts";

type Reading = (filters: Filter[]) => Filter[];
const firstValue: Reading = (filters) =>
  filters.map(({ criterias }) => ({
    criterias: criterias.map((each) => ({ ...each, values: each.values.slice(0, 1) })),
  }));
const readings: Record<string, Reading> = {
  "the first value": firstValue,
  "the last value": (filters) =>
    filters.map(({ criterias }) => ({
      criterias: criterias.map((each) => ({ ...each, values: each.values.slice(-1) })),
    })),
  "the first two values": (filters) =>
    filters.map(({ criterias }) => ({
      criterias: criterias.map((each) => ({ ...each, values: each.values.slice(0, 2) })),
    })),
  "the first filter": (filters) => filters.slice(0, 1),
  "the first filter and the first value": (filters) => firstValue(filters.slice(0, 1)),
};

/** A service that honours only a part of a search. Lists A (p0), B (p1 to p3), C (p3, p4), and one that holds only some of A. */
async function startReading(reading: Reading): Promise<Witness> {
  const witness = await startWitness();
  const lists = [["A"], ["B"], ["B"], ["B", "C"], ["C"]];
  witness.sandbox.admin.seed({
    contacts: [
      ...lists.map((each, index) => ({ key: `p${index}@example.com`, lists: each })),
      { key: "other@example.com" },
    ],
  });
  witness.changesBody = (path, body) => {
    if (path !== "/api/contact/search") return body;
    const search = JSON.parse(body) as { contactSpecification: { filters: Filter[] } };
    search.contactSpecification.filters = reading(search.contactSpecification.filters);
    return JSON.stringify(search);
  };
  return witness;
}

const all = [0, 1, 2, 3, 4].map((index) => `p${index}@example.com`);
const three = ["--list", "A", "--list", "B", "--list", "C"];

describe.each(Object.entries(readings))("a service that honours %s", (_name, reading) => {
  it("finds everybody of several lists, or says that it does not", async () => {
    const witness = await startReading(reading);
    for (const args of [
      ["contact", "search", "--all", ...three, "--columns", "key", "-o", "csv"],
      ["export", ...three, "--columns", "key"],
    ]) {
      const { code, stdout, stderr } = await witness.ecm(args);
      if (code === 0) expect(stdout.trim().split(/\r?\n/).slice(1).sort()).toEqual(all);
      else expect([code, stderr]).toEqual([1, expect.stringContaining("one list at a time")]);
    }
    const changed = await witness.ecm(["contact", "mutate", ...three, "--set", "First Name=X", "--json"]);
    if (changed.code === 0) expect(summaryOf(changed).rows).toMatchObject({ read: 5, updated: 5 });
    else expect(witness.writes).toEqual([]);
  });

  it("merges lists completely, or not at all", async () => {
    const witness = await startReading(reading);
    const merged = await witness.ecm(["lists", "merge", "A", "B", "C", "--into", "D", "--json"]);
    if (merged.code === 0) expect(summaryOf(merged).rows).toMatchObject({ read: 5, updated: 5 });
    else {
      expect(merged.code, merged.stderr).toBe(1);
      expect(merged.stderr).toContain("one list at a time");
      expect(witness.writes).toEqual([]);
    }
    const people = await contactsIn(witness);
    expect(people.get("other@example.com")!.lists).toEqual([]);
  });
});

it("asks a service that honours everything two requests for each further list", async () => {
  const witness = await startReading((filters) => filters);
  await witness.ecm(["lists", "list"]);
  const before = witness.arrived();
  const found = await witness.ecm(["contact", "search", "--count", ...three]);
  expect(found.stdout.trim()).toBe("5");
  expect(witness.arrived() - before).toBeLessThanOrEqual(2 + 4 + 1);
});

it("still finds everybody by alternatives, where several values mean the first", async () => {
  const witness = await startReading(firstValue);
  expect((await witness.ecm(["contact", "search", "--count", ...three])).stdout.trim()).toBe("5");
});
