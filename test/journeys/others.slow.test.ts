import { describe, expect, it } from "vitest";
import { call, inputFile, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { type RecordedWrite, type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

/** Has somebody else act right before the first write of this kind arrives. */
function beforeFirst(
  proxy: RecordingProxy,
  isMeant: (path: string) => boolean,
  act: () => Promise<void>,
): void {
  let hasActed = false;
  proxy.beforeRequest = async (path) => {
    if (hasActed || !isMeant(path)) return;
    hasActed = true;
    await act();
  };
}

const isCreate = (path: string) => path === "/api/contact";
const isMutate = (path: string) => path.endsWith("/mutate");
const refused = (writes: RecordedWrite[]) => writes.filter(({ status }) => status >= 400);

describe("others who work on the same contacts meanwhile", () => {
  async function scene(firstName = "New") {
    const proxy = await startRecordingProxy();
    await proxy.ecm(["import", await inputFile("Email,First Name,Last Name\na@x.org,Old,L\n")]);
    const path = await inputFile(`Email,First Name\na@x.org,${firstName}\n`);
    const one = await proxy.ecm("contact get a@x.org --json");
    const { _id, fields } = JSON.parse(one.stdout) as {
      _id: string;
      fields: { _id: string; value: string }[];
    };
    const field = (value: string) => fields.find((each) => each.value === value)!._id;
    const owner = { baseUrl: proxy.baseUrl, apiKey: proxy.apiKey };
    proxy.writes.length = 0;
    return { proxy, path, id: _id, field, owner };
  }

  it("change another field: our change leaves it alone", async () => {
    const { proxy, path, id, field, owner } = await scene();
    const lastName = field("L");
    beforeFirst(proxy, isMutate, async () => {
      await call(owner, "PUT", `/api/contact/${id}/mutate`, {
        updateFields: [{ _id: lastName, value: "Other" }],
      });
    });
    const summary = parseSummary(await proxy.ecm(["import", path, "--json"]));
    expect(summary.rows).toMatchObject({ updated: 1, rejected: 0 });
    expect(refused(proxy.writes)).toHaveLength(0);
    expect((await readContacts(proxy)).get("a@x.org")).toMatchObject({
      fields: { "First Name": "New", "Last Name": "Other" },
      version: 2,
    });
  });

  it("make the very change that we wanted: then nothing is left to change", async () => {
    const { proxy, path, id, field, owner } = await scene();
    const firstName = field("Old");
    beforeFirst(proxy, isMutate, async () => {
      await call(owner, "PUT", `/api/contact/${id}/mutate`, {
        updateFields: [{ _id: firstName, value: "New" }],
      });
    });
    const summary = parseSummary(await proxy.ecm(["import", path, "--json"]));
    expect(summary.rows).toMatchObject({ updated: 0, unchanged: 1, rejected: 0 });
  });

  it("delete the contact: nobody makes it anew, whatever the mode", async () => {
    for (const mode of ["upsert", "update"]) {
      const { proxy, path, id, owner } = await scene();
      beforeFirst(proxy, isMutate, async () => {
        await call(owner, "DELETE", `/api/contact/${id}`);
      });
      const summary = parseSummary(await proxy.ecm(["import", path, "--mode", mode, "--json"]));
      expect(summary.rows, mode).toMatchObject({ created: 0, updated: 0, skipped: 1, rejected: 0 });
    }
  });

  it("create the contact first: ours becomes a change, or is passed over, by the mode", async () => {
    for (const [mode, rows] of [
      ["upsert", { created: 0, updated: 1 }],
      ["create", { created: 0, skipped: 1 }],
    ] as const) {
      const proxy = await startRecordingProxy();
      beforeFirst(proxy, isCreate, async () => {
        await call(proxy, "POST", "/api/contact", {
          key: "A@x.org",
          contactStructureId: proxy.sandbox.structureId,
        });
      });
      const path = await inputFile("Email,First Name\na@x.org,Ada\n");
      const summary = parseSummary(await proxy.ecm(["import", path, "--mode", mode, "--json"]));
      expect(summary.rows, mode).toMatchObject({ unchanged: 0, rejected: 0, ...rows });
      expect((await readContacts(proxy)).size).toBe(1);
    }
  });

  it("spend the hour as well: both wait, and neither meets a 429", async () => {
    const proxy = await startRecordingProxy({ hourlyLimit: 80, windowSeconds: 1 });
    const files = [manyRows(60), manyRows(60).replaceAll("@", "@other.")];
    const states = await Promise.all(
      files.map(async (text, run) => {
        const path = await inputFile(text);
        return proxy.ecm(["import", path, "--json"], {
          env: { ECM_STATE_DIR: `${proxy.env.ECM_STATE_DIR}${run}` },
        });
      }),
    );
    for (const result of states) {
      expect(result.code, result.stderr).toBe(0);
      expect(parseSummary(result)).toMatchObject({ rows: { created: 60 }, requests: { retried: 0 } });
    }
  });

  it("may hide a contact from the search that a create says exists: the row says so", async () => {
    const proxy = await startRecordingProxy({ faults: [] });
    await proxy.ecm(["import", await inputFile("Email,First Name\na@x.org,Old\n")]);
    proxy.rewrites = (path, text) =>
      path === "/api/contact/search" ? JSON.stringify({ totalRecords: 0, contacts: [] }) : text;
    const clock = {
      now: () => Date.now(),
      sleep: async (_milliseconds: number, signal?: AbortSignal) => signal?.throwIfAborted(),
    };
    const result = await proxy.ecm(["import", await inputFile("Email,First Name\na@x.org,New\n"), "--json"], {
      clock,
    });
    expect(result.code).toBe(0);
    expect(parseSummary(result)).toMatchObject({
      rows: { skipped: 1, rejected: 0 },
      codes: { skipped: { exists_hidden: 1 } },
    });
  });
});
