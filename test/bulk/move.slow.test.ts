/**
 * `ecm contact move`: the person keeps what they have, and nobody who left is written to under another key.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { findStatus } from "../../src/api/contacts.ts";
import { replaceByClone } from "../../src/sandbox/clone.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Contact } from "../../src/wire.ts";
import { beforeFirst, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { done, plainStructure, readContacts, startAccount, temporaryFolder } from "../kit.ts";

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

async function startScene(options: Parameters<typeof startAccount>[0] = {}) {
  const account = await startAccount({ contents, ...options });
  const { ecm, sandbox } = account;
  return {
    ...account,
    move: (flags = "") => ecm(`contact move ${old} ${next} --yes --json ${flags}`),
    writes: () =>
      sandbox.admin.requests().filter(({ method, path }) => method !== "GET" && !path.endsWith("/search")),
    async status(key: string) {
      const { stdout } = await ecm(`contact get ${key} --json`);
      return findStatus(JSON.parse(stdout) as Contact)?.primary.toLowerCase();
    },
  };
}

it("a contact that moves is created with its values, lists and tags in one request, and then unsubscribed", async () => {
  const { ecm, move, writes, status, service } = await startScene();
  const before = (await readContacts(service)).get(old)!;
  const dry = await move("--dry-run");
  expect(dry.stderr).toContain("cannot be made active again");
  expect(writes()).toEqual([]);
  const moved = await move();
  expect(moved.code, moved.stderr).toBe(0);
  expect(moved.stderr).toContain("cannot be made active again");
  expect(JSON.parse(moved.stdout)).toMatchObject({ key: next });
  expect(writes().map(({ method }) => method)).toEqual(["POST", "PATCH"]);
  // As the dry run has printed them.
  expect(JSON.parse(dry.stdout)).toMatchObject(writes().map(({ method, path }) => ({ method, path })));
  const { version: _, ...held } = before;
  expect((await readContacts(service)).get(next)).toMatchObject(held);
  expect([await status(next), await status(old)]).toEqual(["active", "inactive"]);
  expect((await ecm("runs list --json")).stdout.trim()).toBe("[]");
  expect(await move()).toMatchObject({ code: 6, stderr: expect.stringContaining("only an active contact") });
});

it("a contact that moves is printed with --delete-old before it is deleted", async () => {
  const { move, keys } = await startScene();
  const moved = await move("--delete-old");
  expect(JSON.parse(moved.stdout)).toMatchObject({ key: old, lists: [{}], tags: [{}] });
  expect(moved.stderr).toContain(`${old} is deleted for good`);
  expect(await keys()).toEqual([next, "bob@example.com"]);
  // As after a kill at the end.
  const again = await move("--delete-old");
  expect(again).toMatchObject({ code: 5, stderr: expect.stringContaining(`ecm contact get ${next}`) });
});

it("a contact that moves goes on where the new contact holds all of the old one", async () => {
  const { ecm, move, writes } = await startScene();
  const held = "--set 'First Name=Ada' --set 'Last Name=L' --list News --tag VIP";
  await ecm(`contact create --key ${next} ${held} --list Offers`);
  const before = writes().length;
  const moved = await move();
  expect(moved.code, moved.stderr).toBe(0);
  expect(writes().slice(before)).toMatchObject([{ method: "PATCH" }]);
});

it("a contact that moves gives an existing contact what it lacks with --merge; what that has stays", async () => {
  const { ecm, move, writes, status, service } = await startScene();
  await ecm(`contact create --key ${next} --set 'First Name=Augusta' --list Offers`);
  const before = writes().length;
  expect(await move()).toMatchObject({ code: 6, stderr: expect.stringContaining("--merge") });
  expect(writes()).toHaveLength(before);
  const merged = await move("--merge");
  expect(merged.code, merged.stderr).toBe(0);
  const fields = { "First Name": "Augusta", "Last Name": "L" };
  const lists = { length: 2 };
  expect((await readContacts(service)).get(next)).toMatchObject({ fields, lists, tags: { length: 1 } });
  expect(await status(old)).toBe("inactive");
});

it("a contact that moves is completed by the same command where an answer was lost", async () => {
  const { move, status, service } = await startScene({ faults: ["reset-after:POST:/api/contact"] });
  await move();
  service.sandbox.admin.faults([]);
  const again = await move();
  expect(again.code, again.stderr).toBe(0);
  const once = { lists: { length: 1 }, tags: { length: 1 } };
  expect((await readContacts(service)).get(next)).toMatchObject(once);
  expect(await status(old)).toBe("inactive");
});

it.each<[code: number, fault: string, flags: string, state: string]>([
  [7, "429:PATCH:/api/contact/*:seconds=3600", "", "is still active"],
  [1, "500:PATCH:/api/contact/*", "", "may still be active"],
  [8, "reset-before:DELETE:*", "--delete-old", "may still be active"],
])("says what is done and how to go on: exit %i after %s %s", async (code, fault, flags, state) => {
  const { move, sandbox, status } = await startScene({ faults: [fault] });
  const words = `${next} exists now, with all that ${old} has; ${old} ${state}: the same command goes on`;
  expect(await move(flags)).toMatchObject({ code, stderr: expect.stringContaining(words) });
  sandbox.admin.faults([]);
  expect((await move(flags)).code).toBe(0);
  expect(await status(next)).toBe("active");
});

it("a contact that moves says the way on where the service deletes no contacts", async () => {
  const { ecm, move, status } = await startScene({ variants: { literal: "yes" } });
  const { code, stderr } = await ecm(`contact move ${old} ${next} --yes --delete-old`);
  expect(code).toBe(4);
  expect(stderr).toMatch(
    `${next} exists now, with all that ${old} has; ${old} is still active. To unsubscribe it instead: ecm contact move ${old} ${next}\n`,
  );
  expect((await move()).code).toBe(0);
  expect([await status(next), await status(old)]).toEqual(["active", "inactive"]);
});

it("a contact that moves looks up what it shows before it writes", async () => {
  const { ecm, writes } = await startScene({ faults: ["429:GET:/api/contact-structure/*:seconds=3600"] });
  expect((await ecm(`contact move ${old} ${next} --yes --delete-old -o tsv`)).code).toBe(7);
  expect(writes()).toEqual([]);
});

it("a contact that moves is said to be complete by the same command where the last answer was lost", async () => {
  const { move } = await startScene({ faults: ["reset-after:PATCH:/api/contact/*:n=1"] });
  expect((await move()).code).toBe(8);
  expect(await move()).toMatchObject({ code: 6, stderr: expect.stringContaining("it is complete") });
});

const leave = (key: string) => `contact unsubscribe ${key} --yes`;

it.each<[what: string, before: string[], code: number, text: string]>([
  ["whose old contact has left", [leave(old)], 6, "only an active contact"],
  ["whose old key is suppressed", [`suppressions add ${old}`], 6, "suppression list"],
  ["whose new key is suppressed", [`suppressions add ${next}`], 6, "suppression list"],
  ["to one that has left, even with --merge", [`contact create --key ${next}`, leave(next)], 6, "has left"],
  ["without a contact", [`contact delete ${old} --yes`], 5, "No contact has the key or id"],
])("refused: %s", async (_what, before, code, text) => {
  const { ecm, move, writes } = await startScene();
  for (const command of before) await done(ecm(command));
  const written = writes().length;
  expect(await move("--merge")).toMatchObject({ code, stderr: expect.stringContaining(text) });
  expect(writes()).toHaveLength(written);
});

it("refused: one contact named twice, or a key that is none, or is not confirmed", async () => {
  const { ecm, writes } = await startScene();
  const { _id } = JSON.parse((await ecm(`contact get ${old} --json`)).stdout) as Contact;
  for (const words of [
    `${old} ADA@old.example --yes`,
    `${old} nonsense --yes`,
    `${old} '' --yes`,
    `${_id} ${old} --yes`,
    `${old} ${next}`,
  ])
    expect([words, (await ecm(`contact move ${words}`)).code]).toEqual([words, 2]);
  expect(writes()).toEqual([]);
});

it.each([
  ["the contact's own", ids[0], "the same contact"],
  ["another contact's", ids[1], "the id of a contact"],
])("refused: %s id as the new key, where keys are no addresses", async (_whose, id, text) => {
  const folder = join(await temporaryFolder(), "sandbox");
  const contacts = ids.map((_id, index) => ({ _id, key: `member-${index}` }));
  const structure = { ...plainStructure, keyType: "text" };
  await replaceByClone({ folder }, { structure, lists: [], contacts });
  const { ecm, writes } = await startScene({ folder, contents: undefined });
  const refused = await ecm(`contact move member-0 ${id} --yes`);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`${id} is ${text}`) });
  expect(writes()).toEqual([]);
  expect((await ecm("contact move member-0 member-9 --yes")).code).toBe(0);
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

it.each([
  ["has left", `contact unsubscribe ${old} --yes`, "contact unsubscribe ada@new.example", 0],
  ["is gone", `contact delete ${old} --yes`, "contact erase ada@new.example", 1],
  ["was changed", `contact mutate ${old} --set 'Last Name=Love'`, "contact move --merge", 0],
])(
  "the old contact, read again before it goes %s: the command says so, and what is to be done",
  async (_what, happens, hint, deletions) => {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed(contents);
    let isCreated = false;
    proxy.onRequest = ({ path, when }) => {
      isCreated ||= path === "/api/contact" && when === "after";
      return undefined;
    };
    let hasHappened = false;
    // Right after the new one was created.
    beforeFirst(
      proxy,
      () => isCreated,
      async () => {
        hasHappened = true;
        await done(proxy.ecm(happens));
      },
    );
    const moved = await proxy.ecm(`contact move ${old} ${next} --yes --delete-old`);
    expect(hasHappened).toBe(true);
    expect(moved).toMatchObject({ code: 6, stderr: expect.stringContaining(hint) });
    expect(proxy.writes.filter(({ kind }) => kind === "create")).toHaveLength(1);
    expect(proxy.writes.filter(({ kind }) => kind === "delete")).toHaveLength(deletions);
  },
);
