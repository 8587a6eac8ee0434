import { describe, expect, it } from "vitest";
import { call, contactsIn, inputFile, manyRows, summaryOf } from "../bulk/kit.ts";
import { type SeenWrite, startWitness, type Witness } from "./witness.ts";

/** Has somebody else act right before the first write of this kind arrives. */
function beforeFirst(witness: Witness, isMeant: (path: string) => boolean, act: () => Promise<void>): void {
  let hasActed = false;
  witness.beforeRequest = async (path) => {
    if (hasActed || !isMeant(path)) return;
    hasActed = true;
    await act();
  };
}

const isCreate = (path: string) => path === "/api/contact";
const isMutate = (path: string) => path.endsWith("/mutate");
const refused = (writes: SeenWrite[]) => writes.filter(({ status }) => status >= 400);

describe("others who work on the same contacts meanwhile", () => {
  async function scene(firstName = "New") {
    const witness = await startWitness();
    await witness.ecm(["import", await inputFile("Email,First Name,Last Name\na@x.org,Old,L\n")]);
    const path = await inputFile(`Email,First Name\na@x.org,${firstName}\n`);
    const one = await witness.ecm(["contact", "get", "a@x.org", "--json"]);
    const { _id, fields } = JSON.parse(one.stdout) as {
      _id: string;
      fields: { _id: string; value: string }[];
    };
    const field = (value: string) => fields.find((each) => each.value === value)!._id;
    const owner = { baseUrl: witness.baseUrl, apiKey: witness.apiKey };
    witness.writes.length = 0;
    return { witness, path, id: _id, field, owner };
  }

  it("change another field: our change leaves it alone", async () => {
    const { witness, path, id, field, owner } = await scene();
    const lastName = field("L");
    beforeFirst(witness, isMutate, async () => {
      await call(owner, "PUT", `/api/contact/${id}/mutate`, {
        updateFields: [{ _id: lastName, value: "Other" }],
      });
    });
    const summary = summaryOf(await witness.ecm(["import", path, "--json"]));
    expect(summary.rows).toMatchObject({ updated: 1, rejected: 0 });
    expect(refused(witness.writes)).toHaveLength(0);
    expect((await contactsIn(witness)).get("a@x.org")).toMatchObject({
      fields: { "First Name": "New", "Last Name": "Other" },
      version: 2,
    });
  });

  it("make the very change that we wanted: then nothing is left to change", async () => {
    const { witness, path, id, field, owner } = await scene();
    const firstName = field("Old");
    beforeFirst(witness, isMutate, async () => {
      await call(owner, "PUT", `/api/contact/${id}/mutate`, {
        updateFields: [{ _id: firstName, value: "New" }],
      });
    });
    const summary = summaryOf(await witness.ecm(["import", path, "--json"]));
    expect(summary.rows).toMatchObject({ updated: 0, unchanged: 1, rejected: 0 });
  });

  it("delete the contact: it is created again, or missing, by the mode", async () => {
    for (const [mode, rows] of [
      ["upsert", { created: 1, skipped: 0 }],
      ["update", { created: 0, skipped: 1 }],
    ] as const) {
      const { witness, path, id, owner } = await scene();
      beforeFirst(witness, isMutate, async () => {
        await call(owner, "DELETE", `/api/contact/${id}`);
      });
      const summary = summaryOf(await witness.ecm(["import", path, "--mode", mode, "--json"]));
      expect(summary.rows, mode).toMatchObject({ updated: 0, rejected: 0, ...rows });
    }
  });

  it("create the contact first: ours becomes a change, or is passed over, by the mode", async () => {
    for (const [mode, rows] of [
      ["upsert", { created: 0, updated: 1 }],
      ["create", { created: 0, skipped: 1 }],
    ] as const) {
      const witness = await startWitness();
      beforeFirst(witness, isCreate, async () => {
        await call(witness, "POST", "/api/contact", {
          key: "A@x.org",
          contactStructureId: witness.sandbox.structureId,
        });
      });
      const path = await inputFile("Email,First Name\na@x.org,Ada\n");
      const summary = summaryOf(await witness.ecm(["import", path, "--mode", mode, "--json"]));
      expect(summary.rows, mode).toMatchObject({ unchanged: 0, rejected: 0, ...rows });
      expect((await contactsIn(witness)).size).toBe(1);
    }
  });

  it("spend the hour as well: both wait, and neither meets a 429", async () => {
    const witness = await startWitness({ hourlyLimit: 80, windowSeconds: 1 });
    const files = [manyRows(60), manyRows(60).replaceAll("@", "@other.")];
    const states = await Promise.all(
      files.map(async (text, run) => {
        const path = await inputFile(text);
        return witness.ecm(["import", path, "--json"], {
          env: { ECM_STATE_DIR: `${witness.env.ECM_STATE_DIR}${run}` },
        });
      }),
    );
    for (const result of states) {
      expect(result.code, result.stderr).toBe(0);
      expect(summaryOf(result)).toMatchObject({ rows: { created: 60 }, requests: { retried: 0 } });
    }
  });

  it("may hide a contact from the search that a create says exists: the row says so", async () => {
    const witness = await startWitness({ faults: [] });
    await witness.ecm(["import", await inputFile("Email,First Name\na@x.org,Old\n")]);
    witness.rewrites = (path, text) =>
      path === "/api/contact/search" ? JSON.stringify({ totalRecords: 0, contacts: [] }) : text;
    const clock = {
      now: () => Date.now(),
      sleep: async (_milliseconds: number, signal?: AbortSignal) => signal?.throwIfAborted(),
    };
    const result = await witness.ecm(
      ["import", await inputFile("Email,First Name\na@x.org,New\n"), "--json"],
      { clock },
    );
    expect(result.code).toBe(0);
    expect(summaryOf(result)).toMatchObject({
      rows: { skipped: 1, rejected: 0 },
      codes: { skipped: { exists_hidden: 1 } },
    });
  });
});
