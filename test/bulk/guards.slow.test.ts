/** `--max-changes`, `--max-delete`, `--max-remove`: decided on the whole plan, before the first write. */

import { describe, expect, it } from "vitest";
import { done, type RunningSandbox, refused, summaryOf, toWords } from "../kit.ts";
import { countRequests, listWrites, makePlanFile, startPeople } from "./plan-kit.ts";

/** Two create, one changes and empties a value, one empties one, two stay, one is skipped, three are wrong. */
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
const members = "Email\nada@example.com\ndan@example.com\nnew@example.com\n";
const keys = "bob@example.com\ndan@example.com\nada@example.com\nnobody@example.com\n";
const [changes, deletes] = ["--max-changes", "--max-delete"];

/** What the plan has, of so many contacts that were looked at. */
const cases: [command: string, flag: string, would: string, count: number, of: number, stdin?: string][] = [
  ["import - --blank clear", changes, "write to 4 contacts", 4, 6, file],
  ["contact mutate --all --set City=Rome --yes", changes, "write to 4 contacts", 4, 5],
  ["contact unsubscribe --list Customers --yes", changes, "write to 2 contacts", 2, 3],
  ["contact delete --keys - --yes", deletes, "delete 3 contacts", 3, 4, keys],
  ["lists sync Customers - --create --max-remove 100%", changes, "write to 4 contacts", 4, 5, members],
  ["lists merge Customers News --into Both", changes, "write to 3 contacts", 3, 3],
  ["runs undo last", changes, "write to 5 contacts", 5, 5],
];

describe.each(cases)("%s %s", (given, flag, would, count, of, stdin) => {
  const refusal = `This would ${would} (of ${of} looked at); ${flag} allows `;

  /** The account, and the command with the id of the run that it speaks of. */
  async function prepared() {
    const service = await startPeople();
    if (!given.endsWith("last")) return { service, command: given };
    const { run } = await summaryOf(service.ecm, "contact mutate --all --set City=X --yes");
    return { service, command: given.replace("last", run!) };
  }

  it("writes nothing where the plan does more, and goes on once that is allowed", async () => {
    const { service, command } = await prepared();
    const countRuns = async () => JSON.parse((await service.ecm("runs list --json")).stdout).length;
    const [runs, writes] = [await countRuns(), listWrites(service).length];
    let hint = "";
    for (const limit of [`${count - 1}`, `${Math.floor((count * 10_000) / of - 1) / 100}%`]) {
      const { code, stderr, ...summary } = await summaryOf(service.ecm, `${command} ${flag} ${limit}`, {
        stdin,
      });
      const { error } = JSON.parse(stderr.trimEnd().split("\n").at(-1)!);
      expect({ limit, code, error }).toMatchObject({ limit, code: 2, error: { type: "GuardError" } });
      expect(error.message).toContain(refusal);
      expect(summary).toMatchObject({ status: "stopped", rows: { created: 0, updated: 0, deleted: 0 } });
      hint = error.hint;
    }
    expect(listWrites(service)).toHaveLength(writes);

    // Both ways on that the hint names are there.
    const [, plan] = /^Nothing was written\. Look at the plan: ecm plan show (\S+); /.exec(hint) ?? [];
    const { lines } = JSON.parse((await service.ecm(`plan show ${plan} -o json`)).stdout);
    const written = lines.filter(({ action }: { action: string }) => /create|update|delete/.test(action));
    expect(written.length).toBeGreaterThanOrEqual(count);
    const [, resume, allowed] = /^Resume with: ecm (.+) (--\S+ \d+)$/m.exec(hint) ?? [];
    expect(allowed).toBe(`${flag} ${count}`);
    // The guards are kept with the run: to leave them out is not to allow more.
    for (const again of [resume, command]) {
      const refused = await service.ecm(`${again} --yes --json`, { stdin });
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('"GuardError"') });
    }
    expect(listWrites(service)).toHaveLength(writes);
    const resumed = await summaryOf(service.ecm, `${resume} ${allowed} --yes`);
    expect([0, 3], resumed.stderr).toContain(resumed.code);
    expect(resumed.status).toBe("completed");
    expect(listWrites(service).length).toBeGreaterThan(writes);
    // The runs that were stopped and begun again are one.
    expect(await countRuns()).toBe(runs + 1);
  });

  it("a dry run says that a real run would be refused; its plan is not applied, that of a share that is enough is", async () => {
    const { service, command } = await prepared();
    const writes = listWrites(service).length;
    const less = `${command} ${flag} ${count - 1}`;
    const plan = await makePlanFile(service, toWords(less), stdin);
    expect(plan.result.code).toBe(2);
    expect(plan.result.stderr).toContain(`error: ${refusal}${count - 1}\n`);
    const dry = await summaryOf(service.ecm, `${less} --dry-run`, { stdin });
    expect(dry).toMatchObject({ status: "dry-run", stoppedBy: "error" });
    // What a guard has refused is not applied, whatever applying it allows: before a request.
    const requests = countRequests(service);
    for (const flags of ["", `${flag} ${count}`, "--dry-run"]) {
      const refused = await service.ecm(`apply ${plan.file} ${flags} --yes`);
      const stderr = expect.stringContaining(`was refused when it was made: This would ${would}`);
      expect(refused).toMatchObject({ code: 2, stderr });
    }
    expect(countRequests(service)).toBe(requests);
    const share = `${Math.min(100, Math.ceil((count * 10_000) / of) / 100)}%`;
    const allowed = await makePlanFile(service, [...toWords(command), flag, share], stdin);
    // It is applied within guards of its own.
    const refused = await service.ecm(`apply ${allowed.file} ${flag} ${count - 1} --yes`);
    expect({ code: refused.code, writes: listWrites(service).length }).toEqual({ code: 2, writes });
    await done(service.ecm(`apply ${allowed.file} ${flag} ${count} --yes`));
  });
});

it("a limit that is none is refused before a request", async () => {
  const service = await startPeople();
  for (const flag of [changes, deletes]) {
    for (const limit of ["", "-1", "x", "101%", "1.5", "%", "5 %%"]) {
      const { code, stderr } = await service.ecm(`contact mutate --all --set City=Rome '${flag}=${limit}'`);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(flag!) });
    }
  }
  expect(countRequests(service)).toBe(0);
});

const stdin = "Email\nada@example.com\n";
const refusedRemoval = {
  code: 2,
  stderr: expect.stringMatching(
    /would remove 2 of the 3 members of "Customers"; --max-remove allows [\s\S]*--max-remove 2/,
  ),
};
const sync = "lists sync Customers -";

async function countMembers({ ecm }: RunningSandbox): Promise<number> {
  return JSON.parse((await ecm("lists show Customers --json")).stdout).totalContacts;
}

it("the members that a sync takes out are a tenth at most, unless more is allowed", async () => {
  const service = await startPeople();
  const begun = await service.ecm(`${sync} --json`, { stdin });
  expect(begun).toMatchObject({ code: 2, stderr: expect.stringContaining('"GuardError"') });
  expect(await countMembers(service)).toBe(3);
  // The plan stays for a look, and its run is resumed with a larger guard alone.
  for (const again of ["runs resume last", sync])
    expect(await service.ecm(again, { stdin })).toMatchObject(refusedRemoval);
  await done(service.ecm("runs resume last --max-remove 70%"));
  expect(await countMembers(service)).toBe(1);
  // No limit forbids to do nothing.
  const none = `${sync} --max-changes 0% --max-delete 0% --max-remove 0%`;
  expect(await service.ecm(none, { stdin })).toMatchObject({ code: 0 });
});

it("the members that a sync takes out are as many in a plan that is applied: one that was refused is not, and applying takes a guard of its own", async () => {
  const service = await startPeople();
  const plan = await makePlanFile(service, toWords(sync), stdin);
  expect(plan.result).toMatchObject(refusedRemoval);
  expect((await service.ecm(`apply ${plan.file} --max-remove 2`)).code).toBe(2);
  const allowed = await makePlanFile(service, toWords(`${sync} --max-remove 2`), stdin);
  for (const limit of ["1", "50%"])
    expect(await service.ecm(`apply ${allowed.file} --max-remove ${limit}`)).toMatchObject(refusedRemoval);
  expect(await countMembers(service)).toBe(3);
  // It went on within its own run, which the last guard has stopped.
  expect((await service.ecm(`apply ${allowed.file} --max-remove 2`)).code).toBe(0);
  expect(await countMembers(service)).toBe(1);
});

it("a guard holds for a run that has begun, too", async () => {
  const service = await startPeople();
  const stdin = "Email\nx1@example.com\nx2@example.com\nx3@example.com\n";
  for (let spent = 2; spent < 10 && listWrites(service).length === 0; spent++)
    await service.ecm(`import - --concurrency 1 --max-requests ${spent}`, { stdin });
  const begun = listWrites(service).length;
  for (const again of ["import -", "runs resume last"]) {
    await refused(service.ecm(`${again} --max-changes 1`, { stdin }), 2, "Nothing more was written");
  }
  expect(listWrites(service)).toHaveLength(begun);
  expect((await service.ecm("import - --max-changes 3", { stdin })).code).toBe(0);
});
