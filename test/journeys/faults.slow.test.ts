import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { call, ends, inputFile, manyContacts, manyRows, parseSummary, readContacts } from "../kit.ts";
import { expectNoRepeats, expectStopped } from "./ends.ts";
import { fastClock, type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

const size = 60;
const keyOf = (index: number) => `p${index}@example.com`;

/** An account for the import below: a third of its rows exists and changes, a third exists and stays. */
async function startSeeded(options?: Parameters<typeof startRecordingProxy>[0]): Promise<RecordingProxy> {
  const proxy = await startRecordingProxy(options);
  const held = Array.from({ length: size }, (_, index) => index).filter((index) => index % 3 < 2);
  const contacts = held.map((index) => ({ key: keyOf(index), fields: { "First Name": "Old" } }));
  proxy.sandbox.admin.seed({ contacts });
  return proxy;
}

/** A service that fails too long stops the run: the same command resumes. */
async function importUntilDone(proxy: RecordingProxy): Promise<Summary> {
  const nameOf = (index: number) => (index % 3 === 0 ? "New" : "Old");
  const args = ["import", await inputFile(manyRows(size, nameOf)), "--json"];
  let result = await proxy.ecm(args);
  for (let tries = 0; result.code !== 0 && tries < 20; tries++) result = await proxy.ecm(args);
  return parseSummary(await ends(result, 0));
}

const third = size / 3;
const expected: Summary["rows"] = {
  ...{ read: size, created: third, updated: third, unchanged: third },
  ...{ deleted: 0, skipped: 0, rejected: 0, pending: 0 },
};

describe("an import through a service that goes wrong", () => {
  it.each([
    "reset-before:*:/api/contact*:p=0.15:seed=3",
    "reset-after:*:/api/contact*:p=0.15:seed=4",
    "reset-after:POST:/api/contact:p=0.3:seed=5",
    "reset-after:PUT:*:p=0.3:seed=6",
    "500:*:/api/contact*:p=0.15:seed=7",
    "503:*:/api/contact*:p=0.15:seed=8",
    "truncate:*:/api/contact*:p=0.15:seed=9",
    "429:*:*:n=20:seconds=1",
  ])("comes to the same end with %s", async (fault) => {
    const proxy = await startSeeded({ faults: [fault] });
    expect((await importUntilDone(proxy)).rows).toEqual(expected);
    expectNoRepeats(proxy);
    const contacts = await readContacts(await startRecordingProxy({ folder: proxy.folder }));
    for (let index = 0; index < size; index++) {
      const { fields, version } = contacts.get(keyOf(index))!;
      expect([fields["First Name"], version]).toEqual(index % 3 === 0 ? ["New", 1] : ["Old", 0]);
    }
    expect(contacts.size).toBe(size);
  });

  it("rejects nobody whose create was applied, and whose refusal after it was cut off too", async () => {
    const proxy = await startRecordingProxy();
    let answers = 0;
    proxy.onRequest = ({ when, path }) =>
      when === "after" && path === "/api/contact" && ++answers <= 2 ? "cut" : undefined;
    const result = await proxy.ecm(["import", await inputFile("Email\nada@example.com\n"), "--json"]);
    expect(parseSummary(result).rows, result.stderr).toMatchObject({ created: 1, rejected: 0 });
  });

  it("settles writes whose answers come too late", async () => {
    const proxy = await startSeeded({ faults: ["delay:*:/api/contact*:p=0.05:seed=2:seconds=2"] });
    proxy.env.ECM_TIMEOUT = "0.5";
    expect((await importUntilDone(proxy)).rows).toEqual(expected);
  });
});

it.each(
  ["reset-before", "503"].flatMap((kind) => [
    [kind, "PUT", "contact mutate --all --set 'First Name=X' -y"],
    [kind, "PATCH", "contact unsubscribe --all -y"],
    [kind, "DELETE", "contact delete --all -y"],
  ]),
)("a service that answers no write ends the run: %s:%s", async (kind, method, line) => {
  const proxy = await startSeeded({ faults: [`${kind}:${method}:*`] });
  const before = proxy.arrived();
  const code = kind === "503" ? 1 : 8;
  const result = await ends(proxy.ecm(`${line} --json`, { clock: fastClock() }), code, "ecm runs resume");
  expect(expectStopped(result, code, "error").rows).toMatchObject({ updated: 0, deleted: 0, rejected: 0 });
  expect(proxy.arrived() - before).toBeLessThan(100);
});

const many = 40;

it.each(
  (["created", "updated"] as const).flatMap((outcome) =>
    ["p0@example.com", `p${many - 1}@example.com`].map((key) => [outcome, key] as const),
  ),
)("a contact to be %s whose writes are never answered is rejected alone: %s", async (outcome, failing) => {
  const proxy = await startRecordingProxy();
  const contacts = outcome === "updated" ? manyContacts(many) : [];
  proxy.sandbox.admin.seed({ contacts });
  const all = await call<{ _id: string; key: string }[]>(proxy, "GET", "/api/contact");
  const id = all.find(({ key }) => key === failing)?._id;
  let dropped = 0;
  proxy.onRequest = ({ when, path, body }) => {
    const isCreate = path === "/api/contact" && body.includes(`"${failing}"`);
    if (when === "after" || !(isCreate || path === `/api/contact/${id}/mutate`)) return undefined;
    dropped++;
    return "drop";
  };
  const path = await inputFile(`${manyRows(many, () => "New")}${failing},New\n`);
  const result = await ends(proxy.ecm(["import", path, "--json"], { clock: fastClock() }), 3);
  expect(parseSummary(result)).toMatchObject({
    rows: { [outcome]: many - 1, rejected: 1, pending: 0 },
    codes: { rejected: { UnreachableError: 1 } },
  });
  // A row that was joined with another is rejected with it.
  const rejected = new RegExp(`^${failing},New,.*the request may have been applied`, "gm");
  expect((await readFile(parseSummary(result).rejects!, "utf8")).match(rejected)).toHaveLength(2);
  expect(dropped).toBe(10);
});
