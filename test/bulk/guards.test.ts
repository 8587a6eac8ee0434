/**
 * `--max-changes`, `--max-delete`, `--max-remove`: decided on the whole plan, before the first write.
 */

import { describe, expect, it } from "vitest";
import type { RunningSandbox } from "../support/sandbox.ts";
import { parseSummary, summaryOf } from "./kit.ts";
import { listWrites, makePlanFile, readHoldings, startPeople } from "./plan-kit.ts";

/**
 * Ten rows: two create, one changes and empties a value, one empties
 * one, two stay, one is skipped, three are wrong.
 */
const file = `Email,City,Note
new1@example.com,Rome,
new2@example.com,Rome,
ada@example.com,Lima,
bob@example.com,,
cy@example.com,Rome,
dan@example.com,Paris,
dan@example.com,Paris,
wrong 1,,
wrong 2,,
wrong 3,,
`;
const rows = ["import", "-", "--blank", "clear"];

interface Case {
  command: string[];
  stdin?: string;
  before?: string[][];
  flag: string;
  /** What the plan has of it, and contacts that were looked at. */
  count: number;
  of: number;
  would: string;
}

const cases: Case[] = [
  { command: rows, stdin: file, flag: "--max-changes", count: 4, of: 6, would: "write to 4 contacts" },
  {
    command: ["contact", "mutate", "--all", "--set", "City=Rome", "--yes"],
    flag: "--max-changes",
    count: 4,
    of: 5,
    would: "write to 4 contacts",
  },
  {
    command: ["contact", "unsubscribe", "--list", "Customers", "--yes"],
    flag: "--max-changes",
    count: 2,
    of: 3,
    would: "write to 2 contacts",
  },
  {
    command: ["contact", "delete", "--keys", "-", "--yes"],
    stdin: "bob@example.com\ndan@example.com\nada@example.com\n",
    flag: "--max-delete",
    count: 3,
    of: 3,
    would: "delete 3 contacts",
  },
  {
    command: ["lists", "sync", "Customers", "-", "--create", "--max-remove", "100%"],
    stdin: "Email\nada@example.com\ndan@example.com\nnew@example.com\n",
    flag: "--max-changes",
    count: 4,
    of: 5,
    would: "write to 4 contacts",
  },
  {
    command: ["lists", "merge", "Customers", "News", "--into", "Both"],
    flag: "--max-changes",
    count: 3,
    of: 3,
    would: "write to 3 contacts",
  },
  {
    command: ["runs", "undo", "last"],
    before: [["contact", "mutate", "--all", "--set", "City=X", "--yes"]],
    flag: "--max-changes",
    count: 5,
    of: 5,
    would: "write to 5 contacts",
  },
];

/** The account, and the command with the id of the run that it speaks of. */
async function prepared({ before = [], command }: Case): Promise<RunningSandbox & { command: string[] }> {
  const service = await startPeople();
  let id = "last";
  for (const args of before) id = parseSummary(await service.ecm([...args, "--json"])).run!;
  return { ...service, command: command.map((word) => (word === "last" ? id : word)) };
}

/** Just below what the plan does, and just enough, as a number and as a share. */
const shares = ({ count, of }: Case) => ({
  less: [`${count - 1}`, "0", "0%", `${Math.floor(((count * 100) / of) * 100 - 1) / 100}%`],
  enough: [`${count}`, "100%", `${Math.min(100, Math.ceil(((count * 100) / of) * 100) / 100)}%`],
});

const titledCases = cases.map(
  (each) => [`${each.command.slice(0, 2).join(" ")} ${each.flag}`, each] as const,
);

describe.each(titledCases)("%s", (_name, each) => {
  const { stdin, flag, count, of, would } = each;

  it("writes nothing where the plan does more, and goes on once that is allowed", async () => {
    const service = await prepared(each);
    const { command } = service;
    const before = await readHoldings(service);
    const runs = JSON.parse((await service.ecm("runs list --json")).stdout).length;
    const writes = listWrites(service).length;
    let hint = "";
    for (const limit of shares(each).less) {
      const { code, stdout, stderr } = await service.ecm([...command, flag, limit, "--json"], { stdin });
      const failure = JSON.parse(stderr.trimEnd().split("\n").at(-1)!).error;
      expect({ limit, code, type: failure.type }).toEqual({ limit, code: 2, type: "GuardError" });
      expect(failure.message).toContain(`This would ${would} (of ${of} looked at); ${flag} allows `);
      expect(JSON.parse(stdout)).toMatchObject({
        status: "stopped",
        rows: { created: 0, updated: 0, deleted: 0 },
      });
      hint = failure.hint;
    }
    expect(listWrites(service).length).toBe(writes);
    expect(await readHoldings(service)).toEqual(before);

    // Both ways on that the hint names are there.
    const [, plan] = /^Nothing was written\. Look at the plan: ecm plan show (\S+); /.exec(hint) ?? [];
    const output = await service.ecm(`plan show ${plan} -o json`);
    expect(output.code, output.stderr).toBe(0);
    const { lines } = JSON.parse(output.stdout);
    expect(lines.filter(isWritten).length).toBeGreaterThanOrEqual(count);
    const [, resume] = /^Resume with: ecm (.+)$/m.exec(hint) ?? [];
    expect(resume).toMatch(new RegExp(` ${flag} ${count}$`));
    const again = await service.ecm([...resume!.split(" ").slice(0, -2), "--yes", "--json"]);
    expect(again.stderr).toContain('"GuardError"');
    expect({ code: again.code, writes: listWrites(service).length }).toEqual({ code: 2, writes });
    // The guards are kept with the run: to leave them out is not to allow more.
    const retyped = await service.ecm([...command, "--yes", "--json"], { stdin });
    expect(retyped.stderr).toContain('"GuardError"');
    expect({ code: retyped.code, writes: listWrites(service).length }).toEqual({ code: 2, writes });
    const resumed = await service.ecm([...resume!.split(" "), "--yes", "--json"]);
    expect([0, 3], resumed.stderr).toContain(resumed.code);
    expect(parseSummary(resumed).status).toBe("completed");
    expect(await readHoldings(service)).not.toEqual(before);
    // The runs that were stopped and begun again are one.
    expect(JSON.parse((await service.ecm("runs list --json")).stdout).length).toBe(runs + 1);
  });

  it.each(shares(each).enough)("%s is enough", async (limit) => {
    const service = await prepared(each);
    const { command } = service;
    const { code, stdout, stderr } = await service.ecm([...command, flag, limit, "--json"], { stdin });
    expect([0, 3], stderr).toContain(code);
    expect(JSON.parse(stdout).status).toBe("completed");
  });

  it("a dry run says that a real run would be refused, and keeps its plan", async () => {
    const service = await prepared(each);
    const { command } = service;
    const writes = listWrites(service).length;
    const less = [...command, flag, `${count - 1}`];
    const plan = await makePlanFile(service, less, stdin);
    expect(plan.result.code).toBe(2);
    expect(plan.result.stderr).toContain(
      `error: This would ${would} (of ${of} looked at); ${flag} allows ${count - 1}\n`,
    );
    expect(listWrites(service).length).toBe(writes);
    const { stdout } = await service.ecm([...less, "--dry-run", "--json"], { stdin });
    expect(parseSummary({ code: 0, stdout, stderr: "" })).toMatchObject({
      status: "dry-run",
      stoppedBy: "error",
    });

    // What a guard has refused is not applied, whatever applying it allows: before a request.
    const requests = service.sandbox.admin.requests().length;
    for (const args of [[], [flag, `${count}`], ["--dry-run"]]) {
      const refused = await service.ecm(["apply", plan.file, ...args, "--yes"]);
      const stderr = expect.stringContaining(`was refused when it was made: This would ${would}`);
      expect(refused).toMatchObject({ code: 2, stderr });
    }
    expect(service.sandbox.admin.requests()).toHaveLength(requests);
  });

  it("a plan that no guard refused is applied within guards of its own", async () => {
    const service = await prepared(each);
    const plan = await makePlanFile(service, [...service.command, flag, `${count}`], stdin);
    const writes = listWrites(service).length;
    const refused = await service.ecm(`apply ${plan.file} ${flag} ${count - 1} --yes`);
    expect({ code: refused.code, writes: listWrites(service).length }).toEqual({ code: 2, writes });
    const applied = await service.ecm(`apply ${plan.file} ${flag} ${count} --yes`);
    expect(applied.code, applied.stderr).toBe(0);
  });
});

function isWritten({ action }: { action: string }): boolean {
  return /create|update|delete/.test(action);
}

it("a limit that is none is refused before a request", async () => {
  const service = await startPeople();
  for (const flag of ["--max-changes", "--max-delete"]) {
    for (const limit of ["", "-1", "x", "101%", "1.5", "%", "5 %%"]) {
      const { code, stderr } = await service.ecm(`contact mutate --all --set City=Rome '${flag}=${limit}'`);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(flag) });
    }
  }
  expect(service.sandbox.admin.requests()).toEqual([]);
});

describe("the members that a sync takes out", () => {
  const keep = "Email\nada@example.com\n";
  const refused = /would remove 2 of the 3 members of "Customers"; --max-remove allows [\s\S]*--max-remove 2/;
  const sync = ["lists", "sync", "Customers", "-"];

  async function members(service: RunningSandbox): Promise<number> {
    const { stdout } = await service.ecm("lists show Customers --json");
    return JSON.parse(stdout).totalContacts;
  }

  it("are a tenth at most, unless more is allowed", async () => {
    const service = await startPeople();
    const begun = await service.ecm([...sync, "--json"], { stdin: keep });
    expect(begun).toMatchObject({ code: 2, stderr: expect.stringContaining('"GuardError"') });
    expect(await members(service)).toBe(3);
    // The plan stays for a look, and its run is resumed with a larger guard alone.
    for (const args of [["runs", "resume", "last"], sync]) {
      const again = await service.ecm(args, { stdin: keep });
      expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(refused) });
    }
    const done = await service.ecm("runs resume last --max-remove 70%");
    expect(done.code, done.stderr).toBe(0);
    expect(await members(service)).toBe(1);
  });

  it("are as many in a plan that is applied: one that was refused is not, and applying takes a guard of its own", async () => {
    const service = await startPeople();
    const plan = await makePlanFile(service, sync, keep);
    expect(plan.result).toMatchObject({ code: 2, stderr: expect.stringMatching(refused) });
    expect((await service.ecm(`apply ${plan.file} --max-remove 2`)).code).toBe(2);
    const allowed = await makePlanFile(service, [...sync, "--max-remove", "2"], keep);
    for (const limit of ["1", "50%"]) {
      const { code, stderr } = await service.ecm(`apply ${allowed.file} --max-remove ${limit}`);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(refused) });
    }
    expect(await members(service)).toBe(3);
    // It went on within its own run, which the last guard has stopped.
    expect((await service.ecm(`apply ${allowed.file} --max-remove 2`)).code).toBe(0);
    expect(await members(service)).toBe(1);
  });
});

it("a guard holds for a run that has begun, too", async () => {
  const service = await startPeople();
  const stdin = "Email\nx1@example.com\nx2@example.com\nx3@example.com\n";
  const start = ["import", "-", "--concurrency", "1", "--max-requests"];
  for (let spent = 2; spent < 10 && listWrites(service).length === 0; spent++) {
    await service.ecm([...start, `${spent}`], { stdin });
  }
  const begun = listWrites(service).length;
  for (const again of [
    ["import", "-"],
    ["runs", "resume", "last"],
  ]) {
    const refused = await service.ecm([...again, "--max-changes", "1"], { stdin });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("Nothing more was written") });
  }
  expect(listWrites(service)).toHaveLength(begun);
  expect((await service.ecm("import - --max-changes 3", { stdin })).code).toBe(0);
});

it("whom the plan changes and who is gone before the write is not made anew", async () => {
  const service = await startPeople();
  const args = ["import", "-", "--json"];
  const stdin = "Email,City\nada@example.com,Rome\nbob@example.com,Rome\n";
  for (let spent = 2; spent < 10; spent++) {
    const { run } = parseSummary(
      await service.ecm([...args, "--max-requests", `${spent}`, "--fresh"], { stdin }),
    );
    if (run && listWrites(service).length > 0) break;
  }
  const [written] = Object.entries(await readHoldings(service)).filter(([, { fields }]) =>
    fields.includes("City=Rome"),
  );
  const left = ["ada@example.com", "bob@example.com"].find((key) => key !== written?.[0])!;
  await service.ecm(`contact delete ${left} --yes`);
  const stopped = JSON.parse((await service.ecm("runs list --json")).stdout).find(
    (each: { kind: string }) => each.kind === "import",
  );
  const done = await summaryOf(service.ecm, `runs resume ${stopped.run}`);
  expect(done).toMatchObject({ rows: { created: 0, skipped: 1 }, codes: { skipped: { changed: 1 } } });
  expect(await readHoldings(service)).not.toHaveProperty([left]);
});
