/**
 * A search that the service refuses says nothing about who exists:
 * nobody is created, deleted or passed over for it.
 */
import { expect, it } from "vitest";
import { type RecordingProxy, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { askingOf, errorBody, inputFile, manyContacts, manyRows, readContacts, refused } from "../kit.ts";

const message = "Searching is not possible at the moment";

/**
 * A service with so many pages of contacts that keys are looked up, whose
 * searches are refused where the body is matched.
 */
async function startRefusing(isRefused: (body: string) => boolean): Promise<RecordingProxy> {
  const proxy = await startRecordingProxy({ variants: { page: "cap:25" } });
  proxy.sandbox.admin.seed({ contacts: manyContacts(101) });
  proxy.refuses = ({ path, body }) =>
    path === "/api/contact/search" && isRefused(body)
      ? { status: 400, body: errorBody("ValidationError", message) }
      : undefined;
  return proxy;
}

const commands = [
  "contact delete --keys KEYS --yes",
  "contact delete p0@example.com p1@example.com --yes",
  "contact delete p0@example.com --yes",
  "contact unsubscribe --keys KEYS --yes",
  "contact mutate --keys KEYS --set 'First Name=X'",
  "import ROWS",
  "import ROW",
  "import ROWS --plan -",
  "lists sync L ROWS --create",
  "contact search --key p0@example.com --key p1@example.com",
  "export",
];

it("a service that refuses every search ends each command with its words, and nothing is written", async () => {
  const proxy = await startRefusing(() => true);
  proxy.sandbox.admin.seed({ lists: ["L"] });
  const before = await readContacts(proxy);
  const keys = await inputFile("p0@example.com\np1@example.com\nnobody@example.com\n", "keys.txt");
  const [rows, row] = [await inputFile(manyRows(20)), await inputFile(manyRows(1))];
  for (const words of commands) {
    const arrived = proxy.arrived();
    const command = words.replace("KEYS", keys).replace("ROWS", rows).replace("ROW", row);
    const result = await proxy.ecm(command);
    expect({ words, ...result }).toMatchObject({ words, code: 1, stderr: expect.stringContaining(message) });
    expect(result.stderr).not.toContain("does not exist");
    // The number of keys is halved a few times; not each key is asked for.
    expect(proxy.arrived() - arrived, words).toBeLessThan(30);
    const dry = await proxy.ecm(/export|search/.test(command) ? command : `${command} --dry-run`);
    expect(dry.code, `${words}: ${dry.stderr}`).toBe(1);
  }
  expect(proxy.writes).toEqual([]);
  expect(await readContacts(proxy)).toEqual(before);
});

it("a service that refuses every search ends single commands as well", async () => {
  const proxy = await startRefusing(() => true);
  for (const words of ["get", "mutate --set 'First Name=X'", "unsubscribe --yes", "erase --yes"]) {
    const { code, stderr } = await proxy.ecm(`contact ${words} p0@example.com`);
    expect({ words, code, stderr }).toEqual({ words, code: 1, stderr: expect.stringContaining(message) });
  }
  expect(proxy.writes).toEqual([]);
});

it("a service that refuses one key: its row is rejected, with the words, and the others are carried out", async () => {
  const proxy = await startRefusing((body) => body.includes("p5@example.com"));
  const { run, keys } = askingOf(proxy);
  const file = (value: string) => inputFile(manyRows(10, () => value));
  const codes = { rejected: { ValidationError: 1 } };
  const outcome = { code: 3, rows: { read: 10, rejected: 1, created: 0, skipped: 0, pending: 0 }, codes };
  // At a terminal each is looked up before the question.
  const at = { terminalColumns: 200, typed: "y\r" };
  expect(await run(`import ${await file("One")}`, at)).toMatchObject(outcome);
  for (const command of ["import", "contact unsubscribe --yes --keys", "contact delete --yes --keys"]) {
    const { rows, ...result } = await run(`${command} ${await file("Two")}`);
    expect({ command, rows, ...result }).toMatchObject({ command, ...outcome });
    expect(rows.updated + rows.deleted).toBe(9);
    expect((await proxy.ecm("runs rejects last")).stdout).toContain(message);
  }
  expect(await keys()).toContain("p5@example.com");
});

it("a service that refuses searches for inactive contacts: erase does not say that nobody is there", async () => {
  const proxy = await startRefusing((body) => /inactive/i.test(body));
  await refused(proxy.ecm("contact erase nobody@example.com --yes"), 1, message);
});
