/** `lists duplicate` and `lists merge`: a new list and a bulk run over the members. */
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { call, parseSummary } from "../bulk/kit.ts";
import { countRequests } from "../bulk/plan-kit.ts";
import { fastClock, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { temporaryFolder } from "../support/ecm.ts";
import type { RunningSandbox } from "../support/sandbox.ts";
import { startSandbox } from "../support/sandbox.ts";

/** Leads: p0 to p5; Fair: p4 to p8; p9 is in none. */
const chooseLists = (n: number) => [...(n < 6 ? ["Leads"] : []), ...(n > 3 && n < 9 ? ["Fair"] : [])];
const contents = {
  lists: ["Leads", "Fair"],
  contacts: Array.from({ length: 10 }, (_, n) => ({ key: `p${n}@example.com`, lists: chooseLists(n) })),
};
const twoLists = () => startSandbox({ contents });

const merge = "lists merge Leads Fair --into All";
const mergeAll = `${merge} --delete-sources --yes`;

const countMembers = async ({ ecm }: Pick<RunningSandbox, "ecm">, list: string) =>
  (await ecm(["contact", "search", "--list", list, "--count"])).stdout.trim();
/** Requests that the service has answered so far. */
const namesIn = async ({ ecm }: Pick<RunningSandbox, "ecm">) =>
  JSON.parse((await ecm("lists list --json")).stdout).map(({ name }: { name: string }) => name);

describe("lists merge", () => {
  it("makes a new list of everyone in any of them, once, and keeps the sources", async () => {
    const sandbox = await twoLists();
    const { ecm } = sandbox;
    const dry = parseSummary(await ecm(`${merge} --dry-run --json`));
    expect(dry).toMatchObject({ status: "dry-run", rows: { read: 9, updated: 9 } });
    // The list with a look before, and its members.
    expect(dry.estimate.requests).toBe(dry.requests.total + 11);
    expect(await namesIn(sandbox)).toEqual(["Leads", "Fair"]);

    const result = await ecm("lists merge leads Fair Leads --into All --json");
    expect(result.code, result.stderr).toBe(0);
    expect(parseSummary(result)).toMatchObject({
      kind: "mutate",
      status: "completed",
      rows: { read: 9, updated: 9 },
      requests: { total: dry.estimate.requests },
    });
    expect(await namesIn(sandbox)).toEqual(["Leads", "Fair", "All"]);
    expect(await countMembers(sandbox, "Leads")).toBe("6");
    const again = await ecm("lists merge Leads Fair --into all");
    expect(again.code).toBe(6);
    expect(JSON.parse((await ecm("runs list --json")).stdout)).toHaveLength(1);
  });

  it("whose sources were not all deleted is resumed", async () => {
    const sandbox = await twoLists();
    const { ecm } = sandbox;
    sandbox.sandbox.admin.faults(["500:DELETE:*:n=1"]);
    const failed = await ecm(mergeAll);
    expect(failed.code).toBe(1);
    const [, run] = /Resume with: ecm runs resume (\S+)/.exec(failed.stderr) ?? [];
    // Somebody, or this run before it was killed, has deleted one of them.
    await ecm("lists delete Leads --yes");
    const again = await ecm(mergeAll);
    expect(again.code).toBe(5);
    expect((await ecm("runs list -o tsv --columns status")).stdout).toContain("stopped");
    const resumed = await ecm(`runs resume ${run!}`);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect(await namesIn(sandbox)).toEqual(["All"]);
    expect((await ecm(`runs resume ${run!}`)).stderr).toContain("there is nothing to resume");
  });

  it("is undone: memberships go, the new list stays and is named", async () => {
    const sandbox = await twoLists();
    const { ecm } = sandbox;
    const { run } = parseSummary(await ecm(`${merge} --json`));
    const undone = await ecm(`runs undo ${run!} --json`);
    expect(undone.code, undone.stderr).toBe(0);
    expect(undone.stderr).toContain('The list "All" stays; delete it with: ecm lists delete All');
    expect(await countMembers(sandbox, "All")).toBe("0");
    expect(await countMembers(sandbox, "Leads")).toBe("6");
    const copied = parseSummary(await ecm("lists duplicate Leads Copy --json"));
    expect((await ecm(`runs undo ${copied.run!} --delete-created --yes`)).code).toBe(0);
    expect(await namesIn(sandbox)).toEqual(["Leads", "Fair", "All", "Copy"]);
  });

  it("is undone to its end where the undo stopped", async () => {
    for (const flags of ["--delete-created --yes", ""]) {
      const sandbox = await twoLists();
      const { ecm } = sandbox;
      const { run } = parseSummary(await ecm(`${merge} --json`));
      const stopped = await ecm(`runs undo ${run} ${flags} --max-requests 8 --json`);
      expect(stopped.code).toBe(7);
      const resumed = await ecm(`runs resume ${parseSummary(stopped).run} --yes --json`);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(parseSummary(resumed)).toMatchObject({ status: "completed", rows: { updated: 9 } });
      expect(await countMembers(sandbox, "All")).toBe("0");
      expect(await namesIn(sandbox)).toEqual(["Leads", "Fair", "All"]);
    }
  });

  it("goes on where it stopped: by the same command, and by runs resume", async () => {
    for (const isSameCommand of [true, false]) {
      const sandbox = await twoLists();
      const { ecm } = sandbox;
      const stopped = await ecm(`${mergeAll} --max-requests 11 --json`);
      expect(stopped.code).toBe(7);
      const { run, rows } = parseSummary(stopped);
      expect(rows.updated).toBeGreaterThan(0);
      expect(await namesIn(sandbox)).toContain("Leads");
      const resumed = await ecm(`${isSameCommand ? mergeAll : `runs resume ${run} --yes`} --json`);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(parseSummary(resumed)).toMatchObject({ run, status: "completed", rows: { updated: 9 } });
      expect(await namesIn(sandbox)).toEqual(["All"]);
      expect(await countMembers(sandbox, "All")).toBe("9");
      // The sources are gone: undone, their contacts would be in no list.
      const undo = await ecm(`runs undo ${run!}`);
      expect(undo.code).toBe(2);
      expect(undo.stderr).toContain("in no list");
    }
  });

  it("takes no list for its own that others have made while it was stopped", async () => {
    const sandbox = await twoLists();
    const { ecm } = sandbox;
    const stopped = await ecm(`${merge} --max-requests 6 --json`);
    expect(stopped.code).toBe(7);
    await ecm("lists create All");
    for (const again of [`${merge} --json`, `runs resume ${parseSummary(stopped).run} --json`]) {
      const refused = await ecm(again);
      expect(refused.code, refused.stderr).toBe(6);
      expect(refused.stderr).toContain("already exists");
    }
    expect(await countMembers(sandbox, "All")).toBe("0");
  });

  it("deletes sources only when told, and none whose contacts are not all in the new list", async () => {
    const sandbox = await twoLists();
    const { ecm } = sandbox;
    expect((await ecm(`${merge} --delete-sources`)).code).toBe(2);
    const declined = await ecm(`${merge} --delete-sources`, { terminalColumns: 200, typed: "n\r" });
    expect(declined.code).toBe(1);
    expect(declined.stderr).toContain('Delete "Leads", "Fair" after all contacts are in "All"?');
    expect(await namesIn(sandbox)).toEqual(["Leads", "Fair"]);
    expect((await ecm("lists merge Leads Nothing --into All")).code).toBe(5);
    expect((await ecm("lists merge Leads --into fair")).code).toBe(6);
    expect((await ecm("lists merge Leads --into ' '")).code).toBe(2);
    expect(await namesIn(sandbox)).toEqual(["Leads", "Fair"]);
  });

  it.each([
    ["by the same command", true, "told"],
    ["by runs resume", false, "told"],
    ["where searches tell no lists", true, "untold"],
  ])(
    "keeps a source of which somebody is not in the new list, and names them, %s",
    async (_how, isSameCommand, told) => {
      const sandbox = await startRecordingProxy();
      sandbox.sandbox.admin.seed(contents);
      if (told === "untold")
        sandbox.rewrites = (path, text) =>
          path.endsWith("/search") ? text.replaceAll('"lists":', '"x":') : text;
      const { ecm } = sandbox;
      const { run } = parseSummary(await ecm(`${mergeAll} --max-requests 7 --json`));
      await ecm("contact mutate p9@example.com --add-list Leads");
      const resumed = await ecm(`${isSameCommand ? mergeAll : `runs resume ${run} --yes`} --json`);
      expect(resumed.code, resumed.stderr).toBe(3);
      expect(resumed.stderr).toContain(
        'The list "Leads" was not deleted: 1 of its contacts is not in "All": p9@example.com\n' +
          "Add them with: ecm contact mutate --list Leads --add-list All; then: ecm lists delete Leads\n" +
          'Deleted the list "Fair"',
      );
      expect(parseSummary(resumed)).toMatchObject({ run, status: "completed", rows: { updated: 9 } });
      expect(await namesIn(sandbox)).toEqual(["Leads", "All"]);
    },
  );
});

describe("a contact whose write is never answered", () => {
  it.each([0, 8])("is rejected (%i), the others are in the new list, and no source goes", async (failing) => {
    const sandbox = await twoLists();
    const contacts = await call<Contact[]>(sandbox, "GET", "/api/contact");
    const key = `p${failing}@example.com`;
    const { _id } = contacts.find((contact) => contact.key === key)!;
    sandbox.sandbox.admin.faults([`503:PUT:/api/contact/${_id}/mutate`]);
    const result = await sandbox.ecm(`${mergeAll} --json`, { clock: fastClock() });
    expect(result.code, result.stderr).toBe(3);
    expect(parseSummary(result)).toMatchObject({
      status: "completed",
      rows: { updated: 8, rejected: 1, pending: 0 },
    });
    expect(result.stderr).toContain("No list was deleted, since contacts were rejected");
    expect(await countMembers(sandbox, "All")).toBe("8");
    expect(await namesIn(sandbox)).toEqual(["Leads", "Fair", "All"]);
  });
});

describe("the price of a new list", () => {
  const capped = { page: "cap:3" };

  it.each<[Record<string, string>, lists: number]>([
    [{}, 1],
    [capped, 1],
    [capped, 2],
    [capped, 3],
    [capped, 5],
    [{ lists: "array" }, 1],
    [{ lists: "array", page: "cap:3" }, 4],
  ])("is what it sends, as is that of its undo, with %j and %i lists", async (variants, count) => {
    const others = Array.from({ length: count - 1 }, (_, n) => `Other ${n}`);
    const listed = { lists: ["Leads"] };
    const service = await startSandbox({
      variants,
      contents: {
        lists: ["Leads", ...others],
        contacts: [0, 1, 2, 3].map((n) => ({ key: `p${n}@example.com`, ...listed })),
      },
    });
    const off: unknown[] = [];
    for (const line of [
      "lists duplicate Leads Copy",
      "runs undo last --delete-created",
      "lists delete Copy",
      "lists duplicate Leads Copy",
      "runs undo last",
      "lists merge Leads Copy --into All",
      "lists delete Copy",
      "lists merge Leads All --into Both --delete-sources",
    ]) {
      // Nothing is remembered of names: each command pays for them itself.
      const run = async (flag = "") => {
        const before = countRequests(service);
        const env = { ECM_CACHE_DIR: await temporaryFolder() };
        const { code, stdout } = await service.ecm(`${line} ${flag} --json --yes`, { env });
        return { code, sent: countRequests(service) - before, summary: stdout && JSON.parse(stdout) };
      };
      if (line.startsWith("lists delete")) {
        await run();
        continue;
      }
      const dry = await run("--dry-run");
      const real = await run();
      const told = [dry.summary.requests.total, dry.summary.estimate.requests, real.summary.requests.total];
      const sent = [dry.sent, real.sent, real.sent];
      if (told.join() !== sent.join()) off.push({ line, sent, told });
    }
    expect(off).toEqual([]);
  });

  it("counts against --max-requests, with what comes before it and after it", async () => {
    for (const line of [mergeAll, "runs undo last --delete-created --yes"]) {
      for (let maxRequests = 7; ; maxRequests++) {
        const service = await twoLists();
        const isUndo = line !== mergeAll;
        if (isUndo) await service.ecm(merge);
        const before = countRequests(service);
        const env = { ECM_CACHE_DIR: await temporaryFolder() };
        const result = await service.ecm(`${line} --max-requests ${maxRequests} --json`, { env });
        const sent = countRequests(service) - before;
        expect(sent).toBeLessThanOrEqual(maxRequests);
        const { run, status, estimate, stoppedBy } = parseSummary(result);
        const isWhole = status === "completed";
        expect(result.code).toBe(isWhole ? 0 : 7);
        expect(stoppedBy).toBe(isWhole ? null : "max-requests");
        expect(isWhole).toBe(maxRequests >= estimate.requests);
        if (!isWhole) {
          const resumed = await service.ecm(`runs resume ${run!} --yes --json`);
          expect(resumed.code, resumed.stderr).toBe(0);
        }
        expect(await namesIn(service)).toEqual(isUndo ? ["Leads", "Fair", "All"] : ["All"]);
        if (isWhole) break;
      }
    }
  });
});

describe("lists duplicate", () => {
  it("sends nothing where a file of its flags cannot be written", async () => {
    const service = await twoLists();
    const nowhere = `${await temporaryFolder()}/missing/file`;
    const before = countRequests(service);
    for (const flags of [`--plan ${nowhere}`, `--rejects ${nowhere}`, "--plan - --json"]) {
      for (const line of ["lists duplicate Leads Copy", merge])
        expect((await service.ecm(`${line} ${flags}`)).code).toBe(2);
    }
    expect(countRequests(service)).toBe(before);
  });

  it("copies an empty list too", async () => {
    const sandbox = await startSandbox();
    await sandbox.ecm("lists create Empty");
    const result = await sandbox.ecm("lists duplicate Empty Copy");
    expect(result.code, result.stderr).toBe(0);
    expect(await namesIn(sandbox)).toEqual(["Empty", "Copy"]);
  });
});
