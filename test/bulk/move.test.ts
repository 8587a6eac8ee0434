/**
 * `ecm contact move`: the person keeps what they have, and nobody who left is written to under another key.
 */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findStatus } from "../../src/api/contacts.ts";
import { replaceByClone } from "../../src/sandbox/clone.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Contact } from "../../src/wire.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { done, temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { plainStructure } from "../support/service.ts";
import { readContacts } from "./kit.ts";

const old = "ada@old.example";
const next = "ada@new.example";
const ids = ["64f0c2a9e1b2c3d4e5f60001", "64f0c2a9e1b2c3d4e5f60002"];

const contents: SeedData = {
  lists: ["News", "Offers"],
  tags: ["VIP"],
  contacts: [
    { key: old, fields: { "First Name": "Ada", "Last Name": "L" }, lists: ["News"], tags: ["VIP"] },
    { key: "bob@example.com", fields: { "First Name": "Bob" } },
  ],
};

const scene = (options: Parameters<typeof startSandbox>[0] = {}) => startSandbox({ contents, ...options });

async function statusIn(service: RunningSandbox, key: string): Promise<string | undefined> {
  const { stdout } = await service.ecm(`contact get ${key} --json`);
  return findStatus(JSON.parse(stdout) as Contact)?.primary.toLowerCase();
}

const writesIn = ({ sandbox }: RunningSandbox) =>
  sandbox.admin.requests().filter(({ method, path }) => method !== "GET" && !path.endsWith("/search"));

const move = (service: RunningSandbox, ...more: string[]) =>
  service.ecm(["contact", "move", old, next, "--yes", "--json", ...more]);

describe("a contact that moves", () => {
  it("is created with its values, lists and tags in one request, and then unsubscribed", async () => {
    const service = await scene();
    const before = (await readContacts(service)).get(old)!;
    const moved = await move(service);
    expect(moved.code, moved.stderr).toBe(0);
    expect(moved.stderr).toContain("cannot be made active again");
    expect(JSON.parse(moved.stdout)).toMatchObject({ key: next });
    expect(writesIn(service).map(({ method }) => method)).toEqual(["POST", "PATCH"]);
    const after = await readContacts(service);
    expect(after.get(next)).toMatchObject({ fields: before.fields, lists: before.lists, tags: before.tags });
    expect(await statusIn(service, next)).toBe("active");
    expect(await statusIn(service, old)).toBe("inactive");
    expect((await service.ecm("runs list --json")).stdout.trim()).toBe("[]");
    const again = await move(service);
    expect(again).toMatchObject({ code: 6, stderr: expect.stringContaining("only an active contact") });
  });

  it("prints the requests in a dry run, as they are sent", async () => {
    const service = await scene();
    const dry = await move(service, "--dry-run");
    expect(dry.stderr).toContain("cannot be made active again");
    expect(writesIn(service)).toEqual([]);
    await move(service);
    const sent = writesIn(service).map(({ method, path }) => ({ method, path }));
    expect(JSON.parse(dry.stdout)).toMatchObject(sent);
  });

  it("is printed with --delete-old before it is deleted", async () => {
    const service = await scene();
    const moved = await move(service, "--delete-old");
    expect(JSON.parse(moved.stdout)).toMatchObject({ key: old, lists: [{}], tags: [{}] });
    const after = await readContacts(service);
    expect([...after.keys()].sort()).toEqual([next, "bob@example.com"]);
  });

  it("goes on where the new contact holds all of the old one", async () => {
    const service = await scene();
    const flags = ["--set", "First Name=Ada", "--set", "Last Name=L", "--list", "News", "--tag", "VIP"];
    await service.ecm(["contact", "create", "--key", next, ...flags, "--list", "Offers"]);
    const writes = writesIn(service).length;
    const moved = await move(service);
    expect(moved.code, moved.stderr).toBe(0);
    expect(writesIn(service).slice(writes)).toMatchObject([{ method: "PATCH" }]);
  });

  it("gives an existing contact what it lacks with --merge; what that has stays", async () => {
    const service = await scene();
    await service.ecm(`contact create --key ${next} --set 'First Name=Augusta' --list Offers`);
    const writes = writesIn(service).length;
    const refused = await move(service);
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("--merge") });
    expect(writesIn(service)).toHaveLength(writes);
    const merged = await move(service, "--merge");
    expect(merged.code, merged.stderr).toBe(0);
    const contact = (await readContacts(service)).get(next)!;
    expect(contact.fields).toEqual({ "First Name": "Augusta", "Last Name": "L" });
    expect([contact.lists, contact.tags]).toMatchObject([{ length: 2 }, { length: 1 }]);
    expect(await statusIn(service, old)).toBe("inactive");
  });

  it("is completed by the same command where an answer was lost", async () => {
    const service = await scene({ faults: ["reset-after:POST:/api/contact"] });
    await move(service);
    service.sandbox.admin.faults([]);
    const again = await move(service);
    expect(again.code, again.stderr).toBe(0);
    const created = (await readContacts(service)).get(next)!;
    expect([created.lists, created.tags]).toMatchObject([{ length: 1 }, { length: 1 }]);
    expect(await statusIn(service, old)).toBe("inactive");
  });

  it("is said to be complete by the same command where the last answer was lost", async () => {
    const service = await scene({ faults: ["reset-after:PATCH:/api/contact/*:n=1"] });
    expect((await move(service)).code).toBe(8);
    const again = await move(service);
    expect(again).toMatchObject({ code: 6, stderr: expect.stringContaining("it is complete") });
  });
});

describe("a move that is refused, and writes nothing", () => {
  const leave = (key: string) => `contact unsubscribe ${key} --yes`;

  it.each<[what: string, before: string[], code: number, text: string]>([
    ["whose old contact has left", [leave(old)], 6, "only an active contact"],
    ["whose old key is suppressed", [`suppressions add ${old}`], 6, "suppression list"],
    ["whose new key is suppressed", [`suppressions add ${next}`], 6, "suppression list"],
    [
      "to a contact that has left, even with --merge",
      [`contact create --key ${next}`, leave(next)],
      6,
      "has left",
    ],
    ["without a contact", [`contact delete ${old} --yes`], 5, "No contact has the key or id"],
  ])("%s", async (_what, before, code, text) => {
    const service = await scene();
    for (const command of before) await done(service.ecm(command));
    const writes = writesIn(service).length;
    const refused = await move(service, "--merge");
    expect(refused).toMatchObject({ code, stderr: expect.stringContaining(text) });
    expect(writesIn(service)).toHaveLength(writes);
  });

  it("names one contact twice, or a key that is none, or is not confirmed", async () => {
    const service = await scene();
    for (const to of ["ADA@old.example", "nonsense", ""])
      expect((await service.ecm(`contact move ${old} '${to}' --yes`)).code).toBe(2);
    const { _id } = JSON.parse((await service.ecm(`contact get ${old} --json`)).stdout) as Contact;
    expect((await service.ecm(`contact move ${_id} ${old} --yes`)).code).toBe(2);
    expect((await service.ecm(`contact move ${old} ${next}`)).code).toBe(2);
    expect(writesIn(service)).toEqual([]);
  });

  it.each([
    ["the contact's own", ids[0], "the same contact"],
    ["another contact's", ids[1], "the id of a contact"],
  ])("names %s id as the new key, where keys are no addresses", async (_whose, id, text) => {
    const folder = join(await temporaryFolder(), "sandbox");
    const contacts = ids.map((_id, index) => ({ _id, key: `member-${index}` }));
    const structure = { ...plainStructure, keyType: "text" };
    await replaceByClone({ folder }, { structure, lists: [], contacts });
    const service = await startSandbox({ folder });
    const refused = await service.ecm(["contact", "move", "member-0", id!, "--yes"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`${id} is ${text}`) });
    expect(writesIn(service)).toEqual([]);
    expect((await service.ecm("contact move member-0 member-9 --yes")).code).toBe(0);
  });
});

it.each([
  ["create", `contact create --key ${next}`],
  ["move", `contact move ${old} ${next} --yes`],
  ["move --merge", `contact move ${old} bob@example.com --merge --yes`],
])("contact %s creates or writes nobody who was suppressed while it waited", async (_verb, command) => {
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed(contents);
  proxy.sandbox.admin.faults(["429:POST:/api/contact:seconds=0:n=1", "429:PUT:/api/contact/*:seconds=0:n=1"]);
  proxy.beforeRequest = async (path) => {
    const isWrite = /^\/api\/contact(?:\/\w+\/mutate)?$/.test(path);
    if (isWrite) await done(proxy.ecm(`suppressions add ${next} bob@example.com`));
  };
  const refused = await proxy.ecm(command);
  expect(refused).toMatchObject({ code: 6, stderr: expect.stringContaining("suppression list") });
  expect(proxy.writes.map(({ status }) => status)).toEqual([429]);
});

describe("the old contact, read again before it goes", () => {
  /** Something happens to it right after the new one was created. */
  async function moveWhile(happens: string) {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed(contents);
    let isCreated = false;
    proxy.onRequest = ({ path, when }) => {
      isCreated ||= path === "/api/contact" && when === "after";
      return undefined;
    };
    let hasHappened = false;
    proxy.beforeRequest = async () => {
      if (!isCreated || hasHappened) return;
      hasHappened = true;
      await done(proxy.ecm(happens));
    };
    const moved = await proxy.ecm(`contact move ${old} ${next} --yes --delete-old`);
    expect(hasHappened).toBe(true);
    return { proxy, moved };
  }

  it.each([
    ["has left", `contact unsubscribe ${old} --yes`, "contact unsubscribe ada@new.example", 0],
    ["is gone", `contact delete ${old} --yes`, "contact erase ada@new.example", 1],
    ["was changed", `contact mutate ${old} --set 'Last Name=Love'`, "contact move --merge", 0],
  ])("%s: the command says so, and what is to be done", async (_what, happens, hint, deletions) => {
    const { proxy, moved } = await moveWhile(happens);
    expect(moved).toMatchObject({ code: 6, stderr: expect.stringContaining(hint) });
    expect(proxy.writes.filter(({ kind }) => kind === "create")).toHaveLength(1);
    expect(proxy.writes.filter(({ kind }) => kind === "delete")).toHaveLength(deletions);
  });
});
