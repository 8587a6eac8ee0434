/**
 * Members of any of several lists: all of them are found, or it is said that the service does not find them.
 */
import { expect, it } from "vitest";
import type { Filter } from "../../src/wire.ts";
import { type RecordingProxy, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { parseSummary, type Result, readContacts, startSandbox } from "../kit.ts";

type Reading = (filters: Filter[]) => Filter[];
/** Of each condition only these of its values. */
const cutValues =
  (start: number, end?: number): Reading =>
  (filters) =>
    filters.map(({ criterias }) => ({
      criterias: criterias.map((each) => ({ ...each, values: each.values.slice(start, end) })),
    }));
const firstValue = cutValues(0, 1);
const readings: Record<string, Reading> = {
  "the first value": firstValue,
  "the last value": cutValues(-1),
  "the first two values": cutValues(0, 2),
  "the first filter": (filters) => filters.slice(0, 1),
  "the first filter and the first value": (filters) => firstValue(filters.slice(0, 1)),
};

/**
 * A service that honours only a part of a search. Lists A (p0), B (p1 to p3), C (p3, p4), and one that holds
 * only some of A.
 */
async function startReading(reading: Reading): Promise<RecordingProxy> {
  const proxy = await startRecordingProxy();
  const lists = [["A"], ["B"], ["B"], ["B", "C"], ["C"]];
  const members = lists.map((each, index) => ({ key: `p${index}@example.com`, lists: each }));
  proxy.sandbox.admin.seed({ contacts: [...members, { key: "other@example.com" }] });
  proxy.changesBody = (path, body) => {
    if (path !== "/api/contact/search") return body;
    const search = JSON.parse(body) as { contactSpecification: { filters: Filter[] } };
    search.contactSpecification.filters = reading(search.contactSpecification.filters);
    return JSON.stringify(search);
  };
  return proxy;
}

const all = [0, 1, 2, 3, 4].map((index) => `p${index}@example.com`);
const three = "--list A --list B --list C";

it.each(Object.entries(readings))(
  "of a service that honours %s, everybody is found, or nothing is written",
  async (_name, reading) => {
    const proxy = await startReading(reading);
    const isRefused = ({ code, stderr }: Result) => {
      if (code !== 0) expect([code, stderr]).toEqual([1, expect.stringContaining("one list at a time")]);
      return code !== 0;
    };
    for (const command of ["contact search --all -o csv", "export"]) {
      const found = await proxy.ecm(`${command} ${three} --columns key`);
      if (!isRefused(found)) expect(found.stdout.trim().split(/\r?\n/).slice(1).sort()).toEqual(all);
    }
    for (const line of [`contact mutate ${three} --set 'First Name=X'`, "lists merge A B C --into D"]) {
      const written = proxy.writes.length;
      const changed = await proxy.ecm(`${line} --json`);
      if (isRefused(changed)) expect(proxy.writes).toHaveLength(written);
      else expect(parseSummary(changed).rows).toMatchObject({ read: 5, updated: 5 });
    }
    expect((await readContacts(proxy)).get("other@example.com")!.lists).toEqual([]);
  },
);

it("asks a service that honours everything two requests for each further list", async () => {
  const proxy = await startReading((filters) => filters);
  await proxy.ecm("lists list");
  const before = proxy.arrived();
  const found = await proxy.ecm(`contact search --count ${three}`);
  expect(found.stdout.trim()).toBe("5");
  expect(proxy.arrived() - before).toBeLessThanOrEqual(2 + 4 + 1);
});

it("still finds everybody by alternatives, where several values mean the first", async () => {
  const proxy = await startReading(firstValue);
  expect((await proxy.ecm(`contact search --count ${three}`)).stdout.trim()).toBe("5");
});

it("says the next step, where the service refuses to search several lists at once", async () => {
  const { ecm } = await startSandbox({ contents: { lists: ["A", "B"] }, variants: { "max-keys": "1" } });
  const { code, stderr } = await ecm("lists merge A B --into C");
  expect([code, stderr]).toEqual([1, expect.stringContaining("hint: Name one list at a time")]);
});
