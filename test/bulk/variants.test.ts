/** What the bulk engine makes of a service that decides otherwise what its documents leave open. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { writeCachedBehavior } from "../../src/config/behavior-cache.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call, inputFile, manyContacts, manyRows, parseSummary, readContacts } from "./kit.ts";

describe("somebody who unsubscribed, where searches hide who is inactive", () => {
  it("is skipped, not created and not rejected, without waiting", { tags: "slow" }, async () => {
    const service = await startSandbox({ variants: { inactive: "hidden" } });
    const { ecm } = service;
    await ecm(["import", await inputFile(manyRows(3))]);
    expect((await ecm(["contact", "unsubscribe", "p1@example.com", "-y"])).code).toBe(0);
    const result = await ecm(["import", await inputFile(manyRows(4, () => "New")), "--json"], {
      clock: { now: () => Date.now(), sleep: () => Promise.reject(new Error("nothing is to be waited for")) },
    });
    expect(parseSummary(result)).toMatchObject({
      rows: { created: 1, updated: 2, skipped: 1, rejected: 0 },
      codes: { skipped: { exists_hidden: 1 } },
      inactive: 1,
    });
    // What only the service's refusal of a create tells, an edit asks for.
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
    expect((await readContacts(service)).get("p0@example.com")).toMatchObject({
      fields: { "First Name": "New" },
    });
  });
});

describe("somebody who unsubscribed, whose create went without an answer", () => {
  const importTwoRows = async ({ ecm }: RunningSandbox) =>
    ecm(["import", await inputFile(manyRows(2)), "--json", "--concurrency", "1"]);

  it.each(["reset-before", "reset-after", "500"])(
    "is not counted as created after %s",
    { tags: "slow" },
    async (fault) => {
      const service = await startSandbox({
        variants: { inactive: "hidden" },
        faults: [`${fault}:POST:/api/contact:n=1`],
        contents: { contacts: [{ key: "p0@example.com", status: "Inactive" }] },
      });
      const result = await importTwoRows(service);
      expect(parseSummary(result)).toMatchObject({
        rows: { created: 1, skipped: 1, rejected: 0 },
        codes: { skipped: { exists_hidden: 1 } },
        inactive: 1,
      });
      expect((await readContacts(service)).get("p0@example.com")).toMatchObject({ fields: {} });
    },
  );

  it("is counted as created where it was", { tags: "slow" }, async () => {
    const service = await startSandbox({
      variants: { "search-lag": "600000" },
      faults: ["reset-after:POST:/api/contact:n=1"],
    });
    const result = await importTwoRows(service);
    expect(parseSummary(result).rows).toMatchObject({ created: 2, skipped: 0, rejected: 0 });
  });
});

describe("an edit of somebody whom searches hide", () => {
  const prepared = async (others: number) => {
    const service = await startSandbox({ variants: { inactive: "hidden" } });
    await service.ecm(["import", await inputFile(manyRows(others))]);
    expect((await service.ecm(["contact", "unsubscribe", "p1@example.com", "-y"])).code).toBe(0);
    const keys = await inputFile("p0@example.com\np1@example.com\nnobody@example.com\n", "keys.txt");
    return { ...service, keys };
  };
  const countRows = async (result: { stdout: string }) =>
    JSON.parse(result.stdout) as ReturnType<typeof parseSummary>;

  it.each([3, 40])(
    "says that no search shows them, in an account of %d",
    { tags: "slow" },
    async (others) => {
      const { ecm, keys } = await prepared(others);
      const args = ["contact", "mutate", "--keys", keys, "--set", "First Name=X", "--json", "-y"];
      const dry = await countRows(await ecm([...args, "--dry-run"]));
      const mutated = await ecm([...args, "--rejects", `${keys}.csv`]);
      expect(mutated.code).toBe(3);
      const codes = { rejected: { exists_hidden: 1, not_found: 1 } };
      expect(parseSummary(mutated)).toMatchObject({ rows: { updated: 1, rejected: 2 }, codes });
      expect(dry).toMatchObject({ rows: { updated: 1, rejected: 2 }, codes });
      expect(parseSummary(mutated).requests.total).toBeLessThanOrEqual(dry.estimate.requests);
      expect(await readFile(`${keys}.csv`, "utf8")).toMatch(
        /p1@example.com,.*no search shows it; name it by its id/,
      );

      const gone = await ecm(["contact", "delete", "--keys", keys, "--json", "-y"]);
      expect(parseSummary(gone)).toMatchObject({
        rows: { deleted: 1, skipped: 1, rejected: 1 },
        codes: { rejected: { exists_hidden: 1 }, skipped: { missing: 1 } },
      });
      const unsubscribed = await ecm(["contact", "unsubscribe", "--keys", keys, "--json", "-y"]);
      expect(parseSummary(unsubscribed)).toMatchObject({
        rows: { skipped: 1, rejected: 2 },
        codes: { rejected: { not_found: 2 }, skipped: { exists_hidden: 1 } },
      });
    },
  );

  it("does not say of one who is to be deleted that they do not exist", { tags: "slow" }, async () => {
    const { ecm } = await prepared(3);
    const result = await ecm(["contact", "delete", "p1@example.com", "--json", "-y"]);
    expect(result.code).toBe(3);
    expect(parseSummary(result)).toMatchObject({
      rows: { rejected: 1 },
      codes: { rejected: { exists_hidden: 1 } },
    });
    expect(result.stderr).not.toContain("No contact has the key");
  });

  it("costs nothing more once an inactive contact was seen in a plain search", { tags: "slow" }, async () => {
    const service = await startSandbox();
    await service.ecm(["import", await inputFile(manyRows(40))]);
    await service.ecm(["contact", "unsubscribe", "p1@example.com", "-y"]);
    const keys = await inputFile("p0@example.com\np1@example.com\nnobody@example.com\n", "keys.txt");
    const args = ["contact", "mutate", "--keys", keys, "--set", "First Name=X", "--dry-run", "--json"];
    const first = await countRows(await service.ecm(args));
    expect(first.codes).toMatchObject({ rejected: { not_found: 1 } });
    expect(first.rows).toMatchObject({ updated: 2, rejected: 1 });
    expect(first.requests.search).toBe(1);
  });
});

describe("letter case of keys", () => {
  it.each([3, 50])("is compared folded, of %d rows", { tags: "slow" }, async (count) => {
    const service = await startSandbox({
      variants: { page: "cap:4", "max-keys": "20" },
    });
    await service.ecm(["import", await inputFile(manyRows(count))]);
    const shouted = manyRows(count, () => "New").replaceAll(/^p/gm, "P");
    const args = ["import", await inputFile(shouted), "--json"];
    expect(parseSummary(await service.ecm(args)).rows).toMatchObject({ created: 0, updated: count });
    expect(parseSummary(await service.ecm([...args, "--fresh"])).rows).toMatchObject({ unchanged: count });
    const contacts = await readContacts(service);
    expect(contacts.size).toBe(count);
    expect(contacts.get("p0@example.com")).toMatchObject({ fields: { "First Name": "New" } });
  });

  it("costs no further request", { tags: "slow" }, async () => {
    const service = await startSandbox();
    await service.ecm(["import", await inputFile(manyRows(40))]);
    const rows = manyRows(20).replaceAll(/^p/gm, "P");
    const dry = await service.ecm(["import", await inputFile(rows), "--dry-run", "--json"]);
    expect(parseSummary(dry)).toMatchObject({ rows: { unchanged: 20 }, requests: { search: 1 } });
  });
});

describe("an import into an account that holds every row, and of which nothing is known", () => {
  it.each(["first", "refused"])(
    "creates nobody twice where several keys are: %s",
    { tags: "slow" },
    async (keys) => {
      const service = await startSandbox({ variants: { keys, page: "cap:4" } });
      const rows = manyRows(60);
      await service.ecm(["import", await inputFile(rows)]);
      // Another machine: nothing was learned there.
      const other = ecmWith({ ...service.env, ...(await temporaryHome()) });
      const again = parseSummary(await other(["import", await inputFile(rows), "--json"]));
      expect(again.rows).toMatchObject({ unchanged: 60, created: 0, rejected: 0 });
      expect(again.requests).toMatchObject({ create: 0, mutate: 0 });
    },
  );

  it("does not take the first key in another letter case as proof that several count", {
    tags: "slow",
  }, async () => {
    const service = await startSandbox({
      variants: { keys: "first" },
      contents: { contacts: manyContacts(12) },
    });
    const keys = ["P0@example.com", "p1@example.com", "p2@example.com"];
    const found = await service.ecm(["contact", "search", ...keys, "-o", "csv", "--columns", "key"]);
    expect(found.stdout).toBe("key\np0@example.com\np1@example.com\np2@example.com\n");
    const other = ecmWith({ ...service.env, ...(await temporaryHome()) });
    const file = await inputFile(keys.join("\n"), "keys.txt");
    const result = await other(["contact", "unsubscribe", "--keys", file, "--json", "-y"]);
    expect(parseSummary(result).rows).toMatchObject({ updated: 3, rejected: 0 });
  });

  it.each(["first", "refused"])(
    "looks again after ten refused creates where several keys are: %s",
    { tags: "slow" },
    async (keys) => {
      const service = await startSandbox({ variants: { keys, page: "cap:4" } });
      await service.ecm(["import", await inputFile(manyRows(60))]);
      const home = await temporaryHome();
      const [{ _id: structureId }] = await call<[{ _id: string }]>(service, "GET", "/api/contact-structure");
      // Learned when the service took several keys: it no longer does, and no contact is known to show it.
      const points = { keys: { value: "any", learnedAt: new Date().toISOString() } };
      writeCachedBehavior(home.ECM_STATE_DIR!, { baseUrl: service.baseUrl, structureId, points });
      const other = ecmWith({ ...service.env, ...home });
      // The first key of the block is nobody's: a search that counts it alone finds nobody.
      const rows = manyRows(60).replace("\n", "\nnobody@example.com,N\n");
      const result = parseSummary(await other(["import", await inputFile(rows), "--json"]));
      expect(result.rows).toMatchObject({ created: 1, unchanged: 60, rejected: 0 });
      expect(result.requests.create).toBeLessThanOrEqual(20);
    },
  );
});
