/** `ecm sandbox clone`: another account, rehearsed against. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { replaceByClone } from "../../../src/sandbox/clone.ts";
import { openSandbox } from "../../../src/sandbox/index.ts";
import { startRecordingProxy } from "../../journeys/recording-proxy.ts";
import { done, ecmWith, ends, manyContacts, spawnEcm, temporaryFolder, waitForResult } from "../../kit.ts";
import { type RunningSandbox, startSandbox } from "../../support/sandbox.ts";

/** An account with two lists, a tag and three contacts, one of them inactive. */
async function sourceAccount() {
  const contents = {
    lists: ["News", "Empty"],
    tags: ["vip"],
    contacts: [
      { key: "ada@example.com", fields: { "First Name": "Ada" }, lists: ["News"] },
      { key: "bob@example.com", fields: { "First Name": "Bob" } },
      { key: "eve@example.com", lists: ["News"], tags: ["vip"], status: "Unsubscribe" },
    ],
  };
  const source = await startSandbox({ contents });
  const send = caller(source.sandbox.transport, source.apiKey);
  const folder = join(await temporaryFolder(), "rehearsal");
  const clone = (flags: string) => source.ecm(`sandbox clone --data ${folder} ${flags}`);
  return { source, send, folder, clone, contacts: await send("GET", "/api/contact") };
}

function caller(transport: RunningSandbox["sandbox"]["transport"], key: string) {
  return async (method: string, path: string, body?: unknown) => {
    const answer = await transport({
      method,
      url: `http://sandbox.invalid${path}`,
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMilliseconds: 10_000,
    });
    return JSON.parse(answer.text);
  };
}

const toIds = (contacts: { _id: string; lists: object[] }[]) =>
  contacts.map(({ _id, lists }) => ({ _id, lists }));

async function opened(folder: string) {
  const sandbox = await openSandbox({ folder });
  onTestFinished(() => sandbox.close());
  return { structureId: sandbox.structureId, send: caller(sandbox.transport, sandbox.ownKey()) };
}

test("clone copies structure and lists under their ids, and contacts only when asked", async () => {
  const { send, folder, clone } = await sourceAccount();
  expect(await done(clone("--yes"))).toBe("");
  const copy = await opened(folder);
  const structures = await send("GET", "/api/contact-structure");
  expect(await copy.send("GET", "/api/contact-structure")).toEqual(structures);
  expect(copy.structureId).toBe(structures[0]._id);
  const path = `/api/contact-structure/${copy.structureId}/lists`;
  const [{ records }, copied] = [await send("GET", path), await copy.send("GET", path)];
  const toIds = (lists: { _id: string; name: string }[]) => lists.map(({ _id, name }) => [_id, name]);
  expect(toIds(copied.records)).toEqual(toIds(records));
  expect(await copy.send("GET", "/api/contact")).toEqual([]);
});

test("clone --contacts copies every contact as it is, says the price first, and new ids come after", async () => {
  const { source, folder, clone, contacts } = await sourceAccount();
  await done(source.ecm("suppressions add gone@example.com"));
  const said =
    /3 contacts: about 1 more request.*list is not copied; .* ECM_SUPPRESSIONS=\S+\.txt.*Copied 3 contacts/s;
  await ends(clone("--contacts --yes"), 0, said);
  const { structureId, send } = await opened(folder);
  // A search tells everything but the version.
  for (const contact of contacts)
    expect(await send("GET", `/api/contact/${contact._id}`)).toEqual({ ...contact, __v: 0 });
  const made = await send("POST", "/api/contact", { key: "n@example.com", contactStructureId: structureId });
  expect(made._id > contacts[2]._id).toBe(true);
});

test("clone --contacts says that nobody is in a list where searches tell no lists, and what to do", async () => {
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed({ contacts: [{ key: "ada@example.com", lists: ["News"] }] });
  proxy.rewrites = (path, text) => (path.endsWith("/search") ? text.replaceAll('"lists":', '"x":') : text);
  const folder = join(await temporaryFolder(), "rehearsal");
  const warning = "warning: The service's searches do not tell lists: nobody is in a list of the copy";
  const next = "ecm lists sync LIST members.csv --profile sandbox";
  await ends(proxy.ecm(`sandbox clone --contacts --data ${folder} --yes`), 0, warning, next);
});

test("clone replaces what the sandbox held, asks before, and refuses the sandbox itself", async () => {
  const { source, folder, clone, contacts } = await sourceAccount();
  expect((await clone("--contacts")).code).toBe(2);
  for (let turn = 0; turn < 2; turn++) await done(clone("--contacts --yes"));
  const { send } = await opened(folder);
  expect(await send("GET", "/api/contact")).toMatchObject(toIds(contacts));
  const { ECM_BASE_URL: _url, ECM_API_KEY: _key, ...home } = source.env;
  expect((await ecmWith(home)("sandbox clone --profile sandbox --yes")).code).toBe(2);
});

test("clone of the folder's own account, under another profile, leaves it as it is", async () => {
  const { source, send, contacts } = await sourceAccount();
  await done(source.ecm(`sandbox clone --contacts --data ${source.folder} --yes`));
  expect(await send("GET", "/api/contact")).toMatchObject(toIds(contacts));
});

test("clone --max-requests refuses before anything is replaced", async () => {
  const { source, folder, clone } = await sourceAccount();
  await done(clone("--contacts --yes --max-requests 1"));
  source.sandbox.admin.seed({ contacts: manyContacts(1000) });
  await ends(clone("--contacts --yes --max-requests 1"), 7, "about 2 requests");
  const copy = await opened(folder);
  expect(await copy.send("GET", "/api/contact")).toHaveLength(3);
});

test("what a copied structure says of its fields and tags beyond what is known stays when it is updated", async () => {
  const folder = join(await temporaryFolder(), "rehearsal");
  const id = (end: number) => `5f000000000000000000000${end}`;
  const born = { _id: id(2), label: "Born", dataType: "date", required: true, format: "y" };
  const vip = { _id: id(3), label: "vip", color: "red" };
  const known = { _id: id(1), keyName: "Email", keyType: "email" };
  const structure = { ...known, label: "People", fields: [born], tags: [vip], __v: 4 };
  await replaceByClone({ folder }, { structure, lists: [], contacts: [] });
  const { send } = await opened(folder);
  const change = {
    label: "All",
    keyName: "Email",
    fields: [{ _id: born._id, label: "Birthday" }],
    tags: [{ _id: vip._id, label: "VIP" }],
    __v: 4,
  };
  const fields = [{ ...born, label: "Birthday" }];
  const changed = { ...known, label: "All", fields, tags: [{ ...vip, label: "VIP" }], __v: 5 };
  expect(await send("PUT", `/api/contact-structure/${structure._id}`, change)).toEqual(changed);
});

test.each(["a failure", "a kill"])("%s half-way leaves the sandbox as it was", async (how) => {
  const contents = { contacts: manyContacts(25) };
  const variants = { page: "cap:10" };
  const delay = "delay:POST:/api/contact/search:n=3:seconds=60";
  const options = how === "a kill" ? { faults: [delay] } : { hourlyLimit: 5 };
  const source = await startSandbox({ contents, variants, ...options });
  const folder = join(await temporaryFolder(), "clone");
  const stdin = JSON.stringify({ contacts: [{ key: "before@example.com" }] });
  await done(source.ecm(`sandbox seed - --data ${folder}`, { stdin }));
  const args = ["sandbox", "clone", "--contacts", "--data", folder, "--yes"];
  if (how === "a kill") {
    const child = spawnEcm(args, source.env);
    const ended = waitForResult(child);
    await expect.poll(() => source.sandbox.admin.requests({ path: "*search" }).length).toBe(2);
    child.kill("SIGKILL");
    await ended;
  } else expect((await source.ecm(args)).code).toBe(7);
  expect(source.sandbox.admin.requests({ path: "*search" }).length).toBeGreaterThan(1);
  const { send } = await opened(folder);
  expect(await send("GET", "/api/contact")).toMatchObject([{ key: "before@example.com" }]);
});
