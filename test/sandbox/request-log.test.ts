/** What the log of requests holds, and who sees it when. */
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openSandbox } from "../../src/sandbox/index.ts";
import { openStore } from "../../src/sandbox/store/index.ts";
import { type LogEntry, maxLoggedRequests } from "../../src/sandbox/store/request-log.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { openAccount } from "./account.ts";

const entry: LogEntry = {
  ...{ time: Date.UTC(2026, 5, 15), method: "GET", path: "/api/contact/1", query: "", headers: "{}" },
  ...{ body: null, status: 200, answer: null, milliseconds: 1, fault: null },
};

/** A log that holds these. */
async function logOf(entries: Partial<LogEntry>[]) {
  const folder = join(await temporaryFolder(), "sandbox");
  const { database, requests } = await openStore(folder, entry.time);
  onTestFinished(() => database.close());
  database.transaction(() => {
    for (const each of entries) requests.add({ ...entry, ...each });
  });
  return requests;
}

const requestPaths = (requests: { path: string }[]) => requests.map(({ path }) => path);
it("the log has what was answered, in the order of the answers, for every process and after the end", async () => {
  const { sandbox, folder, call, create, openAdmin } = await openAccount();
  const other = await openAdmin();
  await call("GET", "/api/contact/1");
  await create("ada@example.com");
  await call("GET", "/api/contact/2");
  const paths = ["/api/contact/1", "/api/contact", "/api/contact/2"];
  for (const requests of [sandbox.admin.requests(), other.requests()]) {
    expect(requestPaths(requests)).toEqual(paths);
    expect(requests.map(({ n }) => n)).toEqual([1, 2, 3]);
  }
  await call("GET", "/api/contact/3");
  expect(requestPaths(sandbox.admin.requests({ since: 3 }))).toEqual(["/api/contact/3"]);
  sandbox.close();
  const { admin, close } = await openSandbox({ folder });
  onTestFinished(close);
  expect(requestPaths(admin.requests())).toEqual([...paths, "/api/contact/3"]);
});

it("the log keeps the newest of more than it holds, and counts the others", async () => {
  const requests = await logOf(
    Array.from({ length: maxLoggedRequests + 50 }, (_, index) => ({ path: `/${index + 1}` })),
  );
  const loggedRequests = requests.find({}, maxLoggedRequests, "oldest");
  expect(loggedRequests).toHaveLength(maxLoggedRequests);
  expect(loggedRequests[0]).toMatchObject({ n: 51, path: "/51" });
  expect(requests.last()).toBe(maxLoggedRequests + 50);
});
