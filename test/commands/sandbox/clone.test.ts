/** `ecm sandbox clone`: another account, rehearsed against. */
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { replaceByClone } from "../../../src/sandbox/clone.ts";
import { openSandbox } from "../../../src/sandbox/index.ts";
import { startRecordingProxy } from "../../journeys/recording-proxy.ts";
import { ecmWith, spawnEcm, temporaryFolder, waitForResult } from "../../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../../support/sandbox.ts";

/** An account with two lists, a tag and three contacts, one of them inactive. */
async function sourceAccount() {
  const source = await startSandbox();
  const send = caller(source.sandbox.transport, source.apiKey);
  const path = `/api/contact-structure/${source.sandbox.structureId}`;
  const { _id, keyType, ...definition } = await send("GET", path);
  const structure = await send("PUT", path, { ...definition, label: "People", tags: [{ label: "vip" }] });
  const lists = [
    await send("POST", `${path}/lists`, { name: "News" }),
    await send("POST", `${path}/lists`, { name: "Empty" }),
  ];
  const contacts = [];
  for (const name of ["Ada", "Bob", "Eve"]) {
    contacts.push(
      await send("POST", "/api/contact", {
        key: `${name}@example.com`,
        contactStructureId: structure._id,
        fields: [{ _id: structure.fields[0]._id, value: name }],
        lists: name === "Bob" ? [] : [{ _id: lists[0]._id }],
        tags: name === "Eve" ? [{ _id: structure.tags[0]._id }] : [],
      }),
    );
  }
  const status = { primary: "Inactive", secondary: "Unsubscribe" };
  contacts[2] = await send("PATCH", `/api/contact/${contacts[2]._id}`, { status });
  return { source, structure, lists, contacts };
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

async function opened(folder: string) {
  const sandbox = await openSandbox({ folder });
  onTestFinished(() => sandbox.close());
  return { structureId: sandbox.structureId, send: caller(sandbox.transport, sandbox.ownKey()) };
}

test("clone copies structure and lists under their ids, and contacts only when asked", async () => {
  const { source, structure, lists } = await sourceAccount();
  const folder = join(await temporaryFolder(), "rehearsal");
  const { code, stdout } = await source.ecm(`sandbox clone --data ${folder} --yes`);
  expect([code, stdout]).toEqual([0, ""]);
  const { structureId, send } = await opened(folder);
  expect(structureId).toBe(structure._id);
  expect(await send("GET", "/api/contact-structure")).toEqual([structure]);
  const { records } = await send("GET", `/api/contact-structure/${structureId}/lists`);
  expect(records.map((list: { _id: string; name: string }) => [list._id, list.name])).toEqual(
    lists.map((list) => [list._id, list.name]),
  );
  expect(await send("GET", "/api/contact")).toEqual([]);
});

test("clone --contacts copies every contact as it is, says the price first, and new ids come after", async () => {
  const { source, contacts } = await sourceAccount();
  const folder = join(await temporaryFolder(), "rehearsal");
  const { code, stderr } = await source.ecm(`sandbox clone --contacts --data ${folder} --yes`);
  expect(code).toBe(0);
  expect(stderr.indexOf("3 contacts: about 1 more request")).toBeLessThan(
    stderr.indexOf("Copied 3 contacts"),
  );
  const { structureId, send } = await opened(folder);
  // A search tells everything but the version.
  for (const contact of contacts) {
    expect(await send("GET", `/api/contact/${contact._id}`)).toEqual({ ...contact, __v: 0 });
  }
  const made = await send("POST", "/api/contact", {
    key: "new@example.com",
    contactStructureId: structureId,
  });
  expect(made._id > contacts[2]._id).toBe(true);
});

test("clone --contacts says that nobody is in a list where searches tell no lists, and what to do", async () => {
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed({ contacts: [{ key: "ada@example.com", lists: ["News"] }] });
  proxy.rewrites = (path, text) => (path.endsWith("/search") ? text.replaceAll('"lists":', '"x":') : text);
  const folder = join(await temporaryFolder(), "rehearsal");
  const { code, stderr } = await proxy.ecm(`sandbox clone --contacts --data ${folder} --yes`);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(
    "warning: The service's searches do not tell lists: nobody is in a list of the copy",
  );
  expect(stderr).toContain("ecm lists sync LIST members.csv --profile sandbox");
});

test("clone replaces what the sandbox held, asks before, and refuses the sandbox itself", async () => {
  const { source, contacts } = await sourceAccount();
  const folder = join(await temporaryFolder(), "rehearsal");
  const clone = (...words: string[]) =>
    source.ecm(["sandbox", "clone", "--contacts", "--data", folder, ...words]);
  expect((await clone()).code).toBe(2);
  expect((await clone("--yes")).code).toBe(0);
  expect((await clone("--yes")).code).toBe(0);
  const { send } = await opened(folder);
  const copied = await send("GET", "/api/contact");
  expect(copied.map(({ _id }: { _id: string }) => _id)).toEqual(contacts.map(({ _id }) => _id));
  const { ECM_BASE_URL: _url, ECM_API_KEY: _key, ...home } = source.env;
  const itself = await ecmWith(home)(["sandbox", "clone", "--profile", "sandbox", "--yes"]);
  expect(itself.code).toBe(2);
});

test("clone of the folder's own account, under another profile, leaves it as it is", async () => {
  const { source, contacts } = await sourceAccount();
  const words = ["sandbox", "clone", "--contacts", "--data", source.folder, "--yes"];
  expect((await source.ecm(words)).code).toBe(0);
  const send = caller(source.sandbox.transport, source.apiKey);
  expect(await send("GET", "/api/contact")).toMatchObject(contacts.map(({ _id, lists }) => ({ _id, lists })));
});

test("clone --max-requests refuses before anything is replaced", async () => {
  const { source } = await sourceAccount();
  const folder = join(await temporaryFolder(), "rehearsal");
  const clone = (n: string) =>
    source.ecm(["sandbox", "clone", "--contacts", "--data", folder, "--yes", "--max-requests", n]);
  expect((await clone("1")).code).toBe(0);
  const send = caller(source.sandbox.transport, source.apiKey);
  for (let number = 0; number < 1000; number++) {
    await send("POST", "/api/contact", {
      key: `p${number}@example.com`,
      contactStructureId: source.sandbox.structureId,
    });
  }
  const refused = await clone("1");
  expect(refused.code).toBe(7);
  expect(refused.stderr).toContain("about 2 requests");
  const copy = await opened(folder);
  expect(await copy.send("GET", "/api/contact")).toHaveLength(3);
});

test("what a copied structure says of its fields and tags beyond what is known stays when it is updated", async () => {
  const folder = join(await temporaryFolder(), "rehearsal");
  const structure = {
    _id: "5f0000000000000000000001",
    label: "People",
    keyName: "Email",
    keyType: "email",
    fields: [
      { _id: "5f0000000000000000000002", label: "Born", dataType: "date", required: true, format: "y" },
    ],
    tags: [{ _id: "5f0000000000000000000003", label: "vip", color: "red" }],
    __v: 4,
  };
  await replaceByClone({ folder }, { structure, lists: [], contacts: [] });
  const { send } = await opened(folder);
  const change = {
    label: "All",
    keyName: "Email",
    fields: [{ _id: structure.fields[0]!._id, label: "Birthday" }],
    tags: [{ _id: structure.tags[0]!._id, label: "VIP" }],
    __v: 4,
  };
  expect(await send("PUT", `/api/contact-structure/${structure._id}`, change)).toEqual({
    ...structure,
    label: "All",
    fields: [{ ...structure.fields[0], label: "Birthday" }],
    tags: [{ ...structure.tags[0], label: "VIP" }],
    __v: 5,
  });
});

test.each(["a failure", "a kill"])("%s half-way leaves the sandbox as it was", async (how) => {
  const contents = { contacts: Array.from({ length: 2500 }, (_, at) => ({ key: `p${at}@example.com` })) };
  const delay = "delay:POST:/api/contact/search:n=3:seconds=60";
  const options = how === "a kill" ? { faults: [delay] } : { hourlyLimit: 5 };
  const source = await startSandbox({ contents, ...options });
  const folder = join(await temporaryFolder(), "clone");
  const people = JSON.stringify({ contacts: [{ key: "before@example.com" }] });
  const seeded = await source.ecm(`sandbox seed - --data ${folder}`, { stdin: people });
  expect(seeded.code).toBe(0);
  const args = ["sandbox", "clone", "--contacts", "--data", folder, "--yes"];
  if (how === "a kill") {
    const child = spawnEcm(args, source.env);
    const ended = waitForResult(child);
    await expect.poll(() => source.sandbox.admin.requests({ path: "*search" }).length).toBe(2);
    child.kill("SIGKILL");
    await ended;
  } else expect((await source.ecm(args)).code).toBe(7);
  const { send } = await opened(folder);
  expect(await send("GET", "/api/contact")).toMatchObject([{ key: "before@example.com" }]);
});
