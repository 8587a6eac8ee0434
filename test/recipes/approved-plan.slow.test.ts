/**
 * The script of docs/recipes.md that has a plan approved: rehearsed, signed, verified and applied, or not.
 */
import { spawn, spawnSync } from "node:child_process";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { done, type Result, waitForResult } from "../support/ecm.ts";
import { countMembers, type Machine, machine, readRecipes, recipe, runs } from "./kit.ts";

async function scene() {
  const testMachine = await machine();
  const { folder, env, file } = testMachine;
  const key = async (name: string) => {
    spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", join(folder, name)]);
    return (await readFile(join(folder, `${name}.pub`), "utf8")).trim();
  };
  await file("allowed_signers", `ops@example.com namespaces="ecm-plan" ${await key("ops")}\n`);
  await key("stranger");
  const people = await file("people.csv", "Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n");
  const script = await file("approved-plan.sh", (await readRecipes()).get("approved-plan")!);
  const job = (args: string[], more: Record<string, string> = {}): Promise<Result> =>
    waitForResult(
      spawn("bash", [script, ...args], { cwd: folder, env: { ...env, PLAN_MAX: "100%", ...more } }),
    );
  const approve = (name = "ops") => job(["approve"], { PLAN_KEY: join(folder, name), ECM_API_KEY: "" });
  return { ...testMachine, people, job, approve, plan: join(folder, "plan.ndjson") };
}

/** Nothing was written, and no run was begun. */
async function expectUntouched({ ecm }: Pick<Machine, "ecm">): Promise<void> {
  expect(await countMembers(ecm, "Customers")).toBe(0);
  expect(await runs(ecm)).toEqual([]);
}

recipe("approved-plan", () => {
  it("shows counts without a person, and writes what was signed", async () => {
    const { job, approve, people, ecm, plan } = await scene();
    const rehearsed = await job(["rehearse", people]);
    expect(rehearsed.code, rehearsed.stderr).toBe(0);
    expect(rehearsed.stdout).toContain("- Contacts: 2 create\n");
    expect(rehearsed.stdout).not.toContain("ada@");
    const digest = /(sha256:[0-9a-f]{64})/.exec(rehearsed.stdout)![1]!;
    expect(await readFile(plan, "utf8")).toContain(digest);
    await expectUntouched({ ecm });
    await done(approve());
    await done(job(["apply"]));
    expect(await countMembers(ecm, "Customers")).toBe(2);
    expect((await runs(ecm))[0]).toMatchObject({ kind: "apply", status: "completed" });
  });

  it("writes nothing of a plan that is not what was signed, whoever signed it", async () => {
    const { job, approve, people, plan, ecm } = await scene();
    const expectRefused = async (what: string) => {
      const refused = await job(["apply"]);
      expect(refused.code, what).toBe(2);
      const said = "approved-plan: plan.ndjson is not what ops@example.com has signed\n";
      expect(refused.stderr, what).toContain(said);
      await expectUntouched({ ecm });
    };
    await done(job(["rehearse", people]));
    await expectRefused("nobody has signed it");
    await done(approve("stranger"));
    await expectRefused("somebody else has");
    await done(approve());
    await writeFile(plan, (await readFile(plan, "utf8")).replaceAll("Ada", "Eve"));
    await expectRefused("it was changed after that");
    await appendFile(people, "eve@example.com,Eve\n");
    await done(job(["rehearse", people]));
    await expectRefused("another plan was put in its place");
  });

  it("does not sign what is no whole plan, and stops a plan that is too large", async () => {
    const { job, approve, people, plan } = await scene();
    const large = await job(["rehearse", people], { PLAN_MAX: "1" });
    expect(large.code).toBe(2);
    expect(large.stdout).toBe("");
    expect(large.stderr).toContain("--max-changes allows 1");
    await job(["rehearse", people]);
    await writeFile(plan, (await readFile(plan, "utf8")).slice(0, -10));
    expect((await approve()).code).toBe(2);
  });
}, ["ssh-keygen"]);
