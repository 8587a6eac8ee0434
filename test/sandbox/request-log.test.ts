/** When requests are written to the log, and who sees them when. */
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { eraseFromSandbox } from "../../src/sandbox/erase.ts";
import { openAdmin } from "../../src/sandbox/open-admin.ts";
import { openStore, type Store } from "../../src/sandbox/store/index.ts";
import { type LogEntry, maxLoggedRequests } from "../../src/sandbox/store/request-log.ts";
import { TransactionQueue } from "../../src/sandbox/transaction-queue.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { openAccount } from "./account.ts";

const entry: LogEntry = {
  time: Date.UTC(2026, 5, 15),
  method: "GET",
  path: "/api/contact/1",
  query: "",
  headers: "{}",
  body: null,
  status: 200,
  answer: null,
  milliseconds: 1,
  fault: null,
};

async function store(): Promise<Store> {
  const opened = await openStore(join(await temporaryFolder(), "sandbox"), entry.time);
  onTestFinished(() => opened.database.close());
  return opened;
}

const requestPaths = (requests: { path: string }[]) => requests.map(({ path }) => path);

it("the log has what was answered before this process asks, in the order of the answers", async () => {
  const { sandbox, call, create } = await openAccount();
  await call("GET", "/api/contact/1");
  await create("ada@example.com");
  await call("GET", "/api/contact/2");
  const requests = sandbox.admin.requests();
  expect(requestPaths(requests)).toEqual(["/api/contact/1", "/api/contact", "/api/contact/2"]);
  expect(requests.map(({ n }) => n)).toEqual([1, 2, 3]);
  await call("GET", "/api/contact/3");
  expect(requestPaths(sandbox.admin.requests({ since: 3 }))).toEqual(["/api/contact/3"]);
});

it("the log is written with a write, and with what was read before it", async () => {
  const { call, create, openAdmin } = await openAccount();
  const other = await openAdmin();
  await call("GET", "/api/contact/1");
  await create("ada@example.com");
  expect(requestPaths(other.requests())).toEqual(["/api/contact/1", "/api/contact"]);
});

it("the log reaches other processes soon after a read", async () => {
  const { call, openAdmin } = await openAccount();
  const other = await openAdmin();
  await call("GET", "/api/contact/1");
  await vi.waitFor(() => expect(other.requests()).toHaveLength(1), { timeout: 10_000 });
});

it("the log is complete when the sandbox is closed", async () => {
  const { sandbox, folder, call } = await openAccount();
  await call("GET", "/api/contact/1");
  sandbox.close();
  const { admin, close } = await openAdmin({ folder });
  onTestFinished(close);
  expect(requestPaths(admin.requests())).toEqual(["/api/contact/1"]);
});

it("the log holds nothing back from an erasure", async () => {
  const { sandbox, folder, call } = await openAccount();
  await call("GET", "/api/contact/ada@example.com");
  await eraseFromSandbox(folder, ["ada@example.com"], (text) =>
    text.includes("ada@example.com") ? text.replaceAll("ada@example.com", "erased") : undefined,
  );
  expect(sandbox.admin.requests()).toEqual([]);
});

it("the log holds nothing back from an erasure that is in the middle of many", async () => {
  const { database, requests, folder } = await store();
  const queue = new TransactionQueue(database);
  await queue.runInTransaction(() => {
    for (let count = 0; count < 1500; count++) requests.add(entry);
    requests.add({ ...entry, path: "/api/contact/ada@example.com" });
  });
  await eraseFromSandbox(folder, ["ada@example.com"], (text) =>
    text.includes("ada@example.com") ? text.replaceAll("ada@example.com", "erased") : undefined,
  );
  const loggedRequests = requests.find({}, maxLoggedRequests, "oldest");
  expect(loggedRequests).toHaveLength(1500);
  expect(requestPaths(loggedRequests)).not.toContain("/api/contact/ada@example.com");
});

it("the log leaves the numbers of the others as they are when one is erased", async () => {
  const { database, requests, folder } = await store();
  const queue = new TransactionQueue(database);
  await queue.runInTransaction(() => {
    for (const name of ["1", "ada@example.com", "3"]) requests.add({ ...entry, path: `/${name}` });
  });
  await eraseFromSandbox(folder, ["ada@example.com"], (text) =>
    text.includes("ada@example.com") ? text.replaceAll("ada@example.com", "erased") : undefined,
  );
  expect(requests.find({}, 10, "newest")).toMatchObject([
    { n: 1, path: "/1" },
    { n: 3, path: "/3" },
  ]);
});

it.each([
  ["/api/contact", ["/api/contact"]],
  ["*", ["/api/contact", "/api/contact/search", "/api/lists", "/api/lists/1/lists"]],
  ["/api/contact*", ["/api/contact", "/api/contact/search"]],
  ["*search", ["/api/contact/search"]],
  ["/*/*/*", ["/api/contact/search", "/api/lists/1/lists"]],
  ["*lists*lists", ["/api/lists/1/lists"]],
  ["/api/lists*lists", ["/api/lists/1/lists"]],
  ["/api/con?act", []],
  ["", []],
])("the log finds paths by the pattern %s", async (path, found) => {
  const { database, requests } = await store();
  const queue = new TransactionQueue(database);
  const paths = ["/api/contact", "/api/contact/search", "/api/lists", "/api/lists/1/lists"];
  await queue.runInTransaction(() => {
    for (const each of paths) requests.add({ ...entry, path: each });
  });
  expect(requestPaths(requests.find({ path }, 10, "newest"))).toEqual(found);
});

it("the log finds the newest and the oldest of what is kept in many batches", async () => {
  const { database, requests } = await store();
  const queue = new TransactionQueue(database);
  for (let number = 1; number <= 130; number++) {
    await queue.runInTransaction(() =>
      requests.add({ ...entry, path: `/${number}`, status: 200 + (number % 2) }),
    );
  }
  const foundNumbers = (...given: Parameters<typeof requests.find>) =>
    requests.find(...given).map(({ n }) => n);
  expect(foundNumbers({ status: "201" }, 3, "newest")).toEqual([125, 127, 129]);
  expect(foundNumbers({ status: "201" }, 3, "oldest")).toEqual([1, 3, 5]);
  expect(foundNumbers({ after: 120, status: "2xx" }, 100, "oldest")).toHaveLength(10);
  expect(foundNumbers({}, 1000, "newest")).toHaveLength(130);
});

it("the log gives no number twice when it is emptied before it was written", async () => {
  const { sandbox, call } = await openAccount();
  await call("GET", "/api/contact/1");
  await call("GET", "/api/contact/2");
  sandbox.admin.requests.clear();
  expect(sandbox.admin.requests()).toEqual([]);
  await call("GET", "/api/contact/3");
  expect(sandbox.admin.requests()).toMatchObject([{ n: 3, path: "/api/contact/3" }]);
});

it("the log does not have what a failed transaction answered", async () => {
  const { database, requests } = await store();
  const queue = new TransactionQueue(database);
  await queue.runInTransaction(() => requests.add({ ...entry, path: "/before" }));
  database.exec("PRAGMA defer_foreign_keys = ON; CREATE TABLE one (id INTEGER PRIMARY KEY)");
  database.exec(
    "PRAGMA foreign_keys = ON; CREATE TABLE two (id INTEGER REFERENCES one (id) DEFERRABLE INITIALLY DEFERRED)",
  );
  const failed = queue.runInTransaction(() => {
    database.run("INSERT INTO two VALUES (1)");
    requests.add({ ...entry, path: "/failed" });
  });
  await expect(failed).rejects.toThrow("FOREIGN KEY");
  await queue.runInTransaction(() => requests.add({ ...entry, path: "/after" }));
  expect(requestPaths(requests.find({}, 10, "oldest"))).toEqual(["/before", "/after"]);
});

it("the log keeps the newest of more than it holds, and counts the others", async () => {
  const { database, requests } = await store();
  const queue = new TransactionQueue(database);
  await queue.runInTransaction(() => {
    for (let number = 1; number <= maxLoggedRequests + 50; number++)
      requests.add({ ...entry, path: `/${number}` });
  });
  const loggedRequests = requests.find({}, maxLoggedRequests, "oldest");
  expect(loggedRequests).toHaveLength(maxLoggedRequests);
  expect(loggedRequests[0]).toMatchObject({ n: 51, path: "/51" });
  expect(requests.last()).toBe(maxLoggedRequests + 50);
});

it("the log does not hold more text in memory than 32 MiB", async () => {
  const { database, requests, folder } = await store();
  const other = await openStore(folder, entry.time);
  onTestFinished(() => other.database.close());
  const queue = new TransactionQueue(database);
  const body = "x".repeat(64 * 1024);
  await queue.runInTransaction(() => {
    for (let count = 0; count < 520; count++) requests.add({ ...entry, body });
  });
  expect(other.requests.find({}, 1000, "oldest")).toHaveLength(520);
});
