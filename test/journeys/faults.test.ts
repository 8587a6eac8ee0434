import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { call, contactsIn, inputFile, manyContacts, manyRows, summaryOf } from "../bulk/kit.ts";
import { firstQuick } from "../support/first-quick.ts";
import { carriedOutTwice, fastClock, startWitness, type Witness } from "./witness.ts";

const size = 60;

/** A third exists and changes, a third exists and stays, a third is new. */
async function importScene(witness: Witness, seed: (faultless: Witness["env"]) => Promise<void>) {
  await seed(witness.env);
  const rows = Array.from(
    { length: size },
    (_, index) => `p${index}@example.com,${index % 3 === 0 ? "New" : "Old"}`,
  );
  const path = await inputFile(`Email,First Name\n${rows.join("\n")}\n`);
  let result = await witness.ecm(["import", path, "--json"]);
  // A service that fails too long stops the run: the same command goes on.
  for (let tries = 0; result.code !== 0 && tries < 20; tries++) {
    result = await witness.ecm(["import", path, "--json"]);
  }
  expect(result.code, result.stderr).toBe(0);
  return summaryOf(result);
}

async function seedAccount(witness: Witness): Promise<void> {
  const rows = Array.from({ length: size }, (_, index) => `p${index}@example.com,Old`).filter(
    (_, index) => index % 3 < 2,
  );
  const clean = await startWitness({ folder: witness.folder });
  const result = await clean.ecm(["import", await inputFile(`Email,First Name\n${rows.join("\n")}\n`)]);
  expect(result.code).toBe(0);
}

const expected: Summary["rows"] = {
  read: size,
  created: size / 3,
  updated: size / 3,
  deleted: 0,
  unchanged: size / 3,
  skipped: 0,
  rejected: 0,
  pending: 0,
};

describe("an import through a service that goes wrong", () => {
  firstQuick(2)([
    "reset-before:*:/api/contact*:p=0.15:seed=3",
    "reset-after:*:/api/contact*:p=0.15:seed=4",
    "reset-after:POST:/api/contact:p=0.3:seed=5",
    "reset-after:PUT:*:p=0.3:seed=6",
    "500:*:/api/contact*:p=0.15:seed=7",
    "503:*:/api/contact*:p=0.15:seed=8",
    "truncate:*:/api/contact*:p=0.15:seed=9",
    "429:*:*:n=20:seconds=1",
  ])("comes to the same end with %s", async (fault) => {
    const witness = await startWitness({ faults: [fault] });
    const summary = await importScene(witness, () => seedAccount(witness));
    expect(summary.rows).toEqual(expected);
    expect(carriedOutTwice(witness.writes, "create")).toEqual([]);
    expect(carriedOutTwice(witness.writes, "mutate")).toEqual([]);
    const contacts = await contactsIn(await startWitness({ folder: witness.folder }));
    for (let index = 0; index < size; index++) {
      const contact = contacts.get(`p${index}@example.com`)!;
      expect(contact.fields).toEqual({ "First Name": index % 3 === 0 ? "New" : "Old" });
      expect(contact.version).toBe(index % 3 === 0 ? 1 : 0);
    }
    expect(contacts.size).toBe(size);
  });

  it("settles writes whose answers come too late", async () => {
    const witness = await startWitness({ faults: ["delay:*:/api/contact*:p=0.05:seed=2:seconds=2"] });
    await seedAccount(witness);
    witness.env.ECM_TIMEOUT = "0.5";
    const summary = await importScene(witness, async () => undefined);
    expect(summary.rows).toEqual(expected);
  });
});

describe("a service that answers reads, and no write", () => {
  const edits = [
    ["PUT", ["contact", "mutate", "--all", "--set", "First Name=X", "-y"]],
    ["PATCH", ["contact", "unsubscribe", "--all", "-y"]],
    ["DELETE", ["contact", "delete", "--all", "-y"]],
  ] as const;

  firstQuick(2)(
    edits.flatMap(([method, args]) => ["reset-before", "503"].map((kind) => [kind, method, args] as const)),
  )("ends the run after %s:%s, without asking for ever", async (kind, method, args) => {
    const witness = await startWitness({ faults: [`${kind}:${method}:*`] });
    await seedAccount(witness);
    const before = witness.arrived();
    const result = await witness.ecm([...args, "--json"], { clock: fastClock() });
    expect(result.code, result.stderr).toBe(kind === "503" ? 1 : 8);
    expect(summaryOf(result)).toMatchObject({ status: "stopped", stoppedBy: "error" });
    expect(summaryOf(result).rows).toMatchObject({ updated: 0, deleted: 0, rejected: 0 });
    expect(result.stderr).toContain("ecm runs resume");
    expect(witness.arrived() - before).toBeLessThan(100);
  });
});

describe("a service that never answers the writes of one contact", () => {
  const many = 300;

  firstQuick(1)(["created", "updated"] as const)(
    "has that row rejected where it would be %s, and all others carried out",
    async (outcome) => {
      const witness = await startWitness();
      const contacts = outcome === "updated" ? manyContacts(many) : [];
      witness.sandbox.admin.seed({ contacts });
      const all = await call<{ _id: string; key: string }[]>(witness, "GET", "/api/contact");
      const id = all.find(({ key }) => key === "p0@example.com")?._id;
      let dropped = 0;
      witness.onRequest = ({ when, path, body }) => {
        const isCreate = path === "/api/contact" && body.includes('"p0@example.com"');
        if (when === "after" || !(isCreate || path === `/api/contact/${id}/mutate`)) return undefined;
        dropped++;
        return "drop";
      };
      const path = await inputFile(manyRows(many, () => "New"));
      const result = await witness.ecm(["import", path, "--json"], { clock: fastClock() });
      expect(result.code, result.stderr).toBe(3);
      expect(summaryOf(result)).toMatchObject({
        rows: { [outcome]: many - 1, rejected: 1, pending: 0 },
        codes: { rejected: { UnreachableError: 1 } },
      });
      expect(await readFile(summaryOf(result).rejects!, "utf8")).toMatch(
        /p0@example.com,New,.*the request may have been applied/,
      );
      expect(dropped).toBe(10);
    },
  );
});
