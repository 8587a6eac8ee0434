/** Two who create a list of one name at once: there is one list afterwards, and everybody is in it. */
import { describe, expect, it } from "vitest";
import { inputFile, parseSummary, readContacts } from "../bulk/kit.ts";
import { type Ecm, spawnEcm, temporaryHome, waitForResult } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

const rows = (start: string) =>
  `Email\n${Array.from({ length: 12 }, (_, index) => `${start}${index}@x.org\n`).join("")}`;

async function listsIn({
  ecm,
}: {
  ecm: Ecm;
}): Promise<{ _id: string; name: string; totalContacts: number }[]> {
  return JSON.parse((await ecm("lists list --all --json")).stdout);
}

/** Somebody else creates a list of this name, or of another case, when the first creation arrives. */
function othersCreate(proxy: RecordingProxy, name: string, when: "before" | "after"): void {
  const { structureId } = proxy.sandbox;
  const create = () =>
    proxy.sandbox.transport({
      method: "POST",
      url: `http://sandbox.localhost/api/contact-structure/${structureId}/lists`,
      headers: { "x-api-key": proxy.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ name }),
      timeoutMilliseconds: 30_000,
    });
  let isDone = false;
  let isCreating = false;
  proxy.beforeRequest = async (path) => {
    const isLists = path.startsWith(`/api/contact-structure/${structureId}/lists`);
    // The look before the creation asks with a page; the creation itself does not.
    const isCreation = isLists && !path.includes("?");
    if (!isLists || isDone || (when === "before" ? !isCreation : !isCreating || isCreation)) {
      isCreating ||= isCreation;
      return;
    }
    isDone = true;
    await create();
  };
}

const creations: Record<string, (path: string) => string[]> = {
  "import --create-missing": (path) => ["import", path, "--list", "News", "--create-missing"],
  "lists create --if-missing": () => ["lists", "create", "News", "--if-missing"],
};

describe("two creators of one name", () => {
  it.each([1, 2, 3])("on one machine: all imports put their contacts into one list (%i)", async () => {
    const service = await startSandbox();
    const files = await Promise.all(["a", "b", "c"].map((start) => inputFile(rows(start))));
    const results = await Promise.all(
      files.map((file) =>
        waitForResult(
          spawnEcm(
            ["import", file, "--list", "News", "--tag", "T", "--create-missing", "--json"],
            service.env,
          ),
        ),
      ),
    );
    for (const result of results) {
      expect(result.code, result.stderr).toBe(0);
      expect(parseSummary(result)).toMatchObject({ rows: { created: 12 } });
    }
    expect(await listsIn(service)).toMatchObject([{ name: "News", totalContacts: 36 }]);
    const tags = new Set([...(await readContacts(service)).values()].map((contact) => contact.tags.join()));
    expect(tags.size).toBe(1);
  });

  it("on several machines, each with a state folder", async () => {
    const service = await startSandbox();
    const commands = [
      ["lists", "create", "News", "--if-missing", "-o", "id"],
      ["lists", "create", "news", "--if-missing", "-o", "id"],
      ["lists", "create", "News", "--if-missing", "-o", "id"],
    ];
    const results = await Promise.all(
      commands.map(async (args) => service.ecm(args, { env: await temporaryHome() })),
    );
    const [list, ...others] = await listsIn(service);
    expect(others).toEqual([]);
    expect(results.map(({ code, stdout }) => [code, stdout.trim()])).toEqual(
      commands.map(() => [0, list!._id]),
    );
  });

  it("without --if-missing: one creates it, and the other is told that it exists", async () => {
    const service = await startSandbox();
    const results = await Promise.all(
      [0, 1].map(async () => service.ecm("lists create News", { env: await temporaryHome() })),
    );
    expect(results.map(({ code }) => code).sort()).toEqual([0, 6]);
    expect(await listsIn(service)).toMatchObject([{ name: "News" }]);
  });

  it.each(
    Object.entries(creations).flatMap(([name, argsFor]) =>
      ["News", "NEWS"].map((theirs) => [name, theirs, argsFor] as const),
    ),
  )("%s: the older list, %s of somebody else, stays, and its own goes", async (_name, theirs, argsFor) => {
    const proxy = await startRecordingProxy();
    othersCreate(proxy, theirs, "before");
    const result = await proxy.ecm(argsFor(await inputFile(rows("a"))));
    expect(result.code, result.stderr).toBe(0);
    expect(await listsIn(proxy)).toMatchObject([{ name: theirs }]);
    for (const { lists } of (await readContacts(proxy)).values()) expect(lists).toHaveLength(1);
  });

  it.each(Object.entries(creations))("%s: its own list, the older one, stays", async (_name, argsFor) => {
    const proxy = await startRecordingProxy();
    othersCreate(proxy, "News", "after");
    const result = await proxy.ecm(argsFor(await inputFile(rows("a"))));
    expect(result.code, result.stderr).toBe(0);
    // The other one is theirs to delete.
    const lists = await listsIn(proxy);
    expect(lists.map(({ name }) => name)).toEqual(["News", "News"]);
    const [older] = lists.map(({ _id }) => _id).sort();
    if (_name.startsWith("lists")) expect(result.stdout).toContain(older);
    for (const contact of (await readContacts(proxy)).values()) expect(contact.lists).toEqual([older]);
  });

  it("a list to be made new by lists duplicate is not somebody else's", async () => {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed({ contacts: [{ key: "a@x.org", lists: ["Source"] }] });
    othersCreate(proxy, "Copy", "before");
    const result = await proxy.ecm("lists duplicate Source Copy --json");
    expect(result.code, result.stderr).toBe(6);
    expect((await listsIn(proxy)).map(({ name, totalContacts }) => [name, totalContacts])).toEqual([
      ["Source", 1],
      ["Copy", 0],
    ]);
  });

  it("two renamings to one name on one machine: the second is refused", async () => {
    const service = await startSandbox({ contents: { lists: ["A", "B"] } });
    const results = await Promise.all(["A", "B"].map((list) => service.ecm(["lists", "rename", list, "C"])));
    expect(results.map(({ code }) => code).sort()).toEqual([0, 6]);
  });

  it("a lost answer to a creation makes no second list", async () => {
    for (const fault of [
      "reset-after:POST:*/lists:n=1",
      "500:POST:*/lists:n=1",
      "truncate:POST:*/lists:n=1",
    ]) {
      const service = await startSandbox({ faults: [fault] });
      const file = await inputFile(rows("a"));
      const args = ["import", file, "--list", "News", "--create-missing", "--json"];
      const result = await service.ecm(args);
      expect(result.code, `${fault}: ${result.stderr}`).toBe(0);
      expect(await listsIn(service)).toMatchObject([{ name: "News", totalContacts: 12 }]);
    }
  });
});
