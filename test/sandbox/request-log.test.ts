/** When requests are written to the log, and who sees them when. */
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openOwner } from "../../src/sandbox/admin.ts";
import { eraseFromSandbox } from "../../src/sandbox/erase.ts";
import { openStore, type Store } from "../../src/sandbox/store/index.ts";
import { longestLog, type RequestEntry } from "../../src/sandbox/store/request-log.ts";
import { transactionQueue } from "../../src/sandbox/transaction-queue.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { openAccount } from "./account.ts";

const entry: RequestEntry = {
  time: Date.UTC(2026, 5, 15),
  method: "GET",
  path: "/api/contact/1",
  query: "",
  headers: {},
  body: null,
  status: 200,
  answer: null,
  milliseconds: 1,
  fault: null,
};

async function store(): Promise<Store> {
  const opened = await openStore(join(await temporaryFolder(), "sandbox"), entry.time);
  onTestFinished(() => {
    opened.requests.close();
    opened.database.close();
  });
  return opened;
}

const pathsOf = (requests: { path: string }[]) => requests.map(({ path }) => path);

describe("the log of requests", () => {
  it("has what was answered before this process asks, in the order of the answers", async () => {
    const { sandbox, call, create } = await openAccount();
    await call("GET", "/api/contact/1");
    await create("ada@example.com");
    await call("GET", "/api/contact/2");
    const requests = sandbox.operations.requests();
    expect(pathsOf(requests)).toEqual(["/api/contact/1", "/api/contact", "/api/contact/2"]);
    expect(requests.map(({ n }) => n)).toEqual([1, 2, 3]);
    await call("GET", "/api/contact/3");
    expect(pathsOf(sandbox.operations.requests({ since: 3 }))).toEqual(["/api/contact/3"]);
  });

  it("is written with a write, and with what was read before it", async () => {
    const { call, create, owner } = await openAccount();
    const other = await owner();
    await call("GET", "/api/contact/1");
    await create("ada@example.com");
    expect(pathsOf(other.operations.requests())).toEqual(["/api/contact/1", "/api/contact"]);
  });

  it("reaches other processes soon after a read", async () => {
    const { call, owner } = await openAccount();
    const other = await owner();
    await call("GET", "/api/contact/1");
    await vi.waitFor(() => expect(other.operations.requests()).toHaveLength(1), { timeout: 10_000 });
  });

  it("is complete when the sandbox is closed", async () => {
    const { sandbox, folder, call } = await openAccount();
    await call("GET", "/api/contact/1");
    sandbox.close();
    const owner = await openOwner({ folder });
    onTestFinished(() => owner.close());
    expect(pathsOf(owner.operations.requests())).toEqual(["/api/contact/1"]);
  });

  it("holds nothing back from an erasure", async () => {
    const { sandbox, folder, call } = await openAccount();
    await call("GET", "/api/contact/ada@example.com");
    await eraseFromSandbox(folder, ["ada@example.com"], (text) =>
      text.includes("ada@example.com") ? text.replaceAll("ada@example.com", "erased") : undefined,
    );
    expect(sandbox.operations.requests()).toEqual([]);
  });

  it("holds nothing back from an erasure, however much has to be logged first", async () => {
    const { database, requests, folder } = await store();
    const takeTurn = transactionQueue(database, [requests]);
    // Written at 2,000 a second, this takes a while; the person is in the last of it.
    await takeTurn(() => {
      for (let count = 0; count < 1500; count++) requests.add(entry);
      requests.add({ ...entry, path: "/api/contact/ada@example.com" });
    });
    await eraseFromSandbox(folder, ["ada@example.com"], (text) =>
      text.includes("ada@example.com") ? text.replaceAll("ada@example.com", "erased") : undefined,
    );
    const kept = requests.find({}, longestLog, "oldest");
    expect(kept).toHaveLength(1500);
    expect(pathsOf(kept)).not.toContain("/api/contact/ada@example.com");
  });

  it("gives no number twice when it is emptied before it was written", async () => {
    const { sandbox, call } = await openAccount();
    await call("GET", "/api/contact/1");
    await call("GET", "/api/contact/2");
    sandbox.operations.clearRequests();
    expect(sandbox.operations.requests()).toEqual([]);
    await call("GET", "/api/contact/3");
    expect(sandbox.operations.requests()).toMatchObject([{ n: 3, path: "/api/contact/3" }]);
  });

  it("does not have what a failed transaction answered", async () => {
    const { database, requests } = await store();
    const takeTurn = transactionQueue(database, [requests]);
    await takeTurn(() => requests.add({ ...entry, path: "/before" }));
    database.exec("PRAGMA defer_foreign_keys = ON; CREATE TABLE one (id INTEGER PRIMARY KEY)");
    database.exec(
      "PRAGMA foreign_keys = ON; CREATE TABLE two (id INTEGER REFERENCES one (id) DEFERRABLE INITIALLY DEFERRED)",
    );
    const failed = takeTurn(() => {
      database.run("INSERT INTO two VALUES (1)");
      requests.add({ ...entry, path: "/failed" }, true);
    });
    await expect(failed).rejects.toThrow("FOREIGN KEY");
    await takeTurn(() => requests.add({ ...entry, path: "/after" }, true));
    expect(pathsOf(requests.find({}, 10, "oldest"))).toEqual(["/before", "/after"]);
  });

  it("keeps the newest of more than it holds, and counts the others", async () => {
    const { database, requests } = await store();
    const takeTurn = transactionQueue(database, [requests]);
    await takeTurn(() => {
      for (let number = 1; number <= longestLog + 50; number++)
        requests.add({ ...entry, path: `/${number}` });
    });
    const kept = requests.find({}, longestLog, "oldest");
    expect(kept).toHaveLength(longestLog);
    expect(kept[0]).toMatchObject({ n: 51, path: "/51" });
    expect(requests.last()).toBe(longestLog + 50);
  });

  it("does not hold more text in memory than 32 MiB", async () => {
    const { database, requests, folder } = await store();
    const other = await openStore(folder, entry.time);
    onTestFinished(() => other.database.close());
    const takeTurn = transactionQueue(database, [requests]);
    const body = "x".repeat(64 * 1024);
    await takeTurn(() => {
      for (let count = 0; count < 520; count++) requests.add({ ...entry, body });
    });
    expect(other.requests.find({}, 1000, "oldest")).toHaveLength(520);
  });
});
