/** The recipe that has a plan approved: rehearsed, signed, verified and applied, or not. */
import { spawn, spawnSync } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { done, type Result, refused, waitForResult } from "../kit.ts";
import { countMembers, machine, readRecipes, recipe, runs } from "./kit.ts";

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
  const job = (args: string[], more: Record<string, string> = {}): Promise<Result> => {
    const own = { ...env, PLAN_MAX: "100%", ...more };
    return waitForResult(spawn("bash", [script, ...args], { cwd: folder, env: own }));
  };
  const approve = (name = "ops") => job(["approve"], { PLAN_KEY: join(folder, name), ECM_API_KEY: "" });
  return { ...testMachine, people, job, approve, plan: join(folder, "plan.ndjson") };
}

recipe("approved-plan", () => {
  it("shows counts without a person, refuses what is not what was signed, and writes what was", async () => {
    const { job, approve, people, ecm, file, plan } = await scene();
    const rehearsed = await done(job(["rehearse", people]));
    expect(rehearsed).toContain("- Contacts: 2 create\n");
    expect(rehearsed).not.toContain("ada@");
    const digest = /(sha256:[0-9a-f]{64})/.exec(rehearsed)![1]!;
    const approved = await readFile(plan, "utf8");
    expect(approved).toContain(digest);

    const expectRefused = async (what: string) => {
      const { code, stderr } = await job(["apply"]);
      const said = "approved-plan: plan.ndjson is not what ops@example.com has signed\n";
      expect({ what, code, stderr }).toEqual({ what, code: 2, stderr: expect.stringContaining(said) });
      expect(await countMembers(ecm, "Customers")).toBe(0);
      expect(await runs(ecm)).toEqual([]);
    };
    await expectRefused("nobody has signed it");
    await done(approve("stranger"));
    await expectRefused("somebody else has");
    await done(approve());
    await writeFile(plan, approved.replaceAll("Ada", "Eve"));
    await expectRefused("it was changed after that");
    const others = await file("others.csv", "Email\neve@example.com\n");
    await ecm(["import", others, "--list", "Customers", "--create-missing", "--dry-run", "--plan", plan]);
    await expectRefused("another plan was put in its place");

    await writeFile(plan, approved);
    await done(job(["apply"]));
    expect(await countMembers(ecm, "Customers")).toBe(2);
    expect((await runs(ecm))[0]).toMatchObject({ kind: "apply", status: "completed" });
  });

  it("does not sign what is no whole plan, and stops a plan that is too large", async () => {
    const { job, approve, people, plan, ecm } = await scene();
    await refused(job(["rehearse", people], { PLAN_MAX: "1" }), 2, "--max-changes allows 1");
    await rm(plan, { force: true });
    await done(ecm(["import", people, "--dry-run", "--plan", plan]));
    await writeFile(plan, (await readFile(plan, "utf8")).slice(0, -10));
    expect((await approve()).code).toBe(2);
  });
}, ["ssh-keygen"]);
