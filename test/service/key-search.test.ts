/** Looking several keys up, against services that take several keys in different ways, or not at all. */
import { describe, expect, it } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { createBehavior, type KnownBehavior } from "../../src/service/behavior.ts";
import { KeySearch } from "../../src/service/key-search.ts";
import type { SearchBody } from "../../src/wire.ts";
import { sendTo } from "./kit.ts";

interface Service {
  /** How several values of one criteria are taken. */
  values?: "any" | "refused" | "first" | "none";
  /** How several filters are taken. */
  filters?: "any" | "refused" | "first";
  maxKeys?: number;
  /** Keys in the account. */
  held: string[];
  /** A key that no search may name. */
  refuses?: string;
  /** It is refused only where it is honoured. */
  isCheckedWhereHonoured?: boolean;
}

function createSearchService(service: Service) {
  const { values = "any", filters = "any", maxKeys = 1000, held, refuses = "" } = service;
  const searches: SearchBody[] = [];
  const refusal = () =>
    new EcmError("service", "refused", undefined, { status: 400, type: "ValidationError" });
  const send = sendTo((request) => {
    const body = request.body as SearchBody;
    searches.push(body);
    const wanted = (body.contactSpecification?.filters ?? []).map((filter) => filter.criterias[0]!.values);
    const keys =
      wanted.length > 1 ? take(wanted.flat(), filters) : take(wanted[0] ?? held, wanted[0] ? values : "any");
    if (keys.length > maxKeys && wanted.length > 0) throw refusal();
    if ((service.isCheckedWhereHonoured ? keys : wanted.flat()).includes(refuses)) throw refusal();
    const found = held.filter((key) => keys.includes(key)).map((key) => ({ _id: `id ${key}`, key }));
    const page = found.slice((body.page - 1) * body.pageSize, body.page * body.pageSize);
    return { totalRecords: found.length, contacts: page };
  });
  function take(keys: string[], how: string): string[] {
    if (keys.length === 1 || how === "any") return keys;
    if (how === "refused") throw refusal();
    return how === "first" ? keys.slice(0, 1) : [];
  }
  return { searches, send };
}

const k = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `k${from + index}`);

/** @param noted the key of a contact that was read before */
async function lookUp(service: Service, keys: string[], knownBehavior: KnownBehavior = {}, noted?: string) {
  const { searches, send } = createSearchService(service);
  const behavior = createBehavior(knownBehavior);
  const search = new KeySearch({ send, behavior, structureId: "s", toIdentity: (key) => key });
  if (noted !== undefined) search.note({ key: noted });
  const { contacts, refused } = await search.find(keys, ["_id", "key"]);
  return { found: contacts.map(({ key }) => key), refused: [...refused.keys()], searches, behavior };
}

const services: [string, Omit<Service, "held">][] = [
  ["any of several values", {}],
  ["no several values", { values: "refused" }],
  ["the first value alone", { values: "first" }],
  ["none of several values", { values: "none" }],
  ["neither values nor filters in number", { values: "refused", filters: "refused" }],
  ["the first of anything", { values: "first", filters: "first" }],
  ["seven keys at most", { maxKeys: 7 }],
  ["seven alternatives at most", { values: "refused", maxKeys: 7 }],
];

describe("a search for many keys in a service that takes", () => {
  it.each(services)("%s finds everybody who is there, and costs less next time", async (_name, service) => {
    const account = { ...service, held: k(0, 40) };
    const first = await lookUp(account, k(20, 60));
    expect(first.found.sort()).toEqual(k(20, 40).sort());
    const next = await lookUp(account, k(30, 60), first.behavior.known);
    expect(next.found.sort()).toEqual(k(30, 40).sort());
    const mode = first.behavior.get("keys");
    expect(next.searches.length).toBeLessThanOrEqual(mode === "one" ? 30 : 6);
    expect(next.searches.length).toBeLessThanOrEqual(first.searches.length);
  });

  it.each(services)("%s is not misled by keys of which only the first is there", async (_name, service) => {
    const find = async (...held: string[]) => (await lookUp({ ...service, held }, k(1, 20))).found;
    expect(await find("k1")).toEqual(["k1"]);
    expect(await find("other", "another")).toEqual([]);
    expect(await find("other", "k19")).toEqual(["k19"]);
  });

  it("any of several values costs one request where two are found", async () => {
    const { searches, behavior } = await lookUp({ held: k(0, 10) }, k(0, 5));
    expect(searches).toHaveLength(1);
    expect(behavior.get("keys")).toBe("any");
  });

  it.each(services)("%s names a key that it refuses, and finds the others", async (_name, service) => {
    const account = { ...service, held: k(0, 30), refuses: "k5" };
    const { found, refused } = await lookUp(account, k(0, 12));
    expect(refused).toEqual(["k5"]);
    expect(found.sort()).toEqual([...k(0, 5), ...k(6, 12)].sort());
    const checked = { ...account, isCheckedWhereHonoured: true };
    expect((await lookUp(checked, k(0, 12))).refused).toEqual(["k5"]);
  });

  it("less than it did: what was learned is found out again", async () => {
    const known: KnownBehavior = { keys: { value: "any", learnedAt: "2026-01-01T00:00:00Z" } };
    const service: Service = { values: "first", held: k(0, 40) };
    const { found, searches, behavior } = await lookUp(service, k(0, 20), known, "k39");
    expect(found).toHaveLength(20);
    expect(behavior.get("keys")).toBe("alternatives");
    expect(searches).toHaveLength(3);
  });

  it("nothing amiss when the contact that was to be found is deleted meanwhile", async () => {
    const { found, behavior } = await lookUp({ held: k(0, 10) }, k(5, 15), {}, "gone");
    expect(found).toHaveLength(5);
    expect(behavior.get("keys")).toBe("any");
  });
});
