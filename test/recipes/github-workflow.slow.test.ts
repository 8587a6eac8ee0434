/** The steps of examples/github-workflow.yml, run as GitHub runs them, against the embedded service. */
import { spawn } from "node:child_process";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { ends, waitForResult } from "../support/ecm.ts";
import { machine, recipe } from "./kit.ts";

type Step = { name?: string; run?: string; shell?: string; env?: Record<string, string> };

interface Workflow {
  env: Record<string, string>;
  permissions: unknown;
  jobs: Record<string, { if: string; environment?: string; steps: Step[] }>;
}

const file = fileURLToPath(new URL("../../examples/github-workflow.yml", import.meta.url));
const workflow = parse(await readFile(file, "utf8")) as Workflow;

/** A runner with these files in `contacts/`. */
async function runner(files: Record<string, string>) {
  const testMachine = await machine();
  for (const [name, text] of Object.entries(files)) await testMachine.file(`contacts/${name}`, text);
  const summary = join(testMachine.folder, "summary.md");
  /** `bash` with the flags that GitHub gives it. */
  const step = async (job: string, name: string) => {
    const { run, env } = workflow.jobs[job]!.steps.find((each) => each.name === name)!;
    await writeFile(summary, "");
    const script = await testMachine.file("step.sh", run!);
    const { ECM_READ_ONLY, GH_REPO } = env!;
    const { folder: cwd } = testMachine;
    const github = { GITHUB_SHA: "merged", GITHUB_STEP_SUMMARY: summary, RUNNER_TEMP: cwd };
    const own = {
      ...workflow.env,
      ...testMachine.env,
      ...github,
      MAX_CHANGES: "100%",
      ...(GH_REPO ? { GH_REPO: "owner/contacts" } : {}),
      ...(ECM_READ_ONLY ? { ECM_READ_ONLY } : {}),
    };
    const words = ["--noprofile", "--norc", "-eo", "pipefail", script];
    const child = spawn("bash", words, { cwd, env: own, stdio: ["ignore", "pipe", "pipe"] });
    return { ...(await waitForResult(child)), summary: await readFile(summary, "utf8") };
  };
  // What the first job keeps is what the second one finds.
  const gh = `#!/bin/sh
echo "$*" >>"$HOME/gh.log"
case "$1 $2" in
  "api repos/owner/contacts/commits/merged/pulls") cat "$HOME/head" ;;
  "run list") cat "$HOME/run" ;;
  "run download") mkdir -p "$7" && cp "$HOME"/kept/* "$7" ;;
  *) exit 9 ;;
esac
`;
  await testMachine.file("bin/gh", gh, 0o755);
  await testMachine.file("head", "abc\n");
  await testMachine.file("run", "17\n");
  const keptFolder = join(testMachine.folder, "kept");
  /** The artifact of the first job, and the second job on a runner of its own. */
  const merge = async () => {
    await rm(keptFolder, { recursive: true, force: true });
    await cp(join(testMachine.folder, "plans"), keptFolder, { recursive: true });
    const found = await step("apply", "Plans");
    return found.code === 0 ? step("apply", "Apply") : found;
  };
  const active = async () => Number((await testMachine.ecm("contact search --count")).stdout);
  return { ...testMachine, step, merge, active };
}

it("the workflow gives the rehearsal a key that reads, and the other one only to what is merged", () => {
  const { rehearse, apply } = workflow.jobs;
  const secrets = (job: { steps: Step[] }) => JSON.stringify(job.steps).match(/secrets\.\w+/g);
  expect(secrets(rehearse!)).toEqual(["secrets.ECM_READ_KEY"]);
  expect(secrets(apply!)).toEqual(["secrets.ECM_API_KEY"]);
  expect(rehearse!.if).toContain("head.repo.full_name == github.repository");
  expect(apply).toMatchObject({ if: "github.event_name == 'push'", environment: "contacts" });
  expect(workflow.permissions).toEqual({ contents: "read", actions: "read", "pull-requests": "read" });
  // Nothing that a pull request can choose becomes part of a script.
  for (const { steps } of Object.values(workflow.jobs)) {
    for (const { run } of steps) expect(run ?? "").not.toContain("${{");
  }
});

recipe("the workflow's steps", () => {
  it("rehearse without a write and without a name in the summary; then apply that plan; then find nothing to do", async () => {
    const { step, merge, ecm, active, folder } = await runner({
      "a.csv": "Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n",
      "b.csv": "Email\neve@example.com\n",
    });
    await ecm("lists create Newsletter");
    const rehearsed = await ends(step("rehearse", "Rehearse"), 0);
    const counts = "### contacts/a.csv\n\n### Plan: 2 contacts to write\n";
    for (const said of [counts, "- Contacts: 2 create\n", "### contacts/b.csv"])
      expect(rehearsed.summary).toContain(said);
    for (const secret of ["ada@", "Ada", "eve@"]) expect(rehearsed.summary).not.toContain(secret);
    const digests = rehearsed.summary.match(/sha256:[0-9a-f]{64}/g)!;
    expect(await active()).toBe(0);

    const applied = await ends(merge(), 0);
    expect(applied.summary).toContain("completed: 2 created, 0 updated");
    expect(applied.summary.match(/sha256:[0-9a-f]{64}/g)).toEqual(digests);
    expect(await active()).toBe(3);
    await rm(join(folder, "contacts/b.csv"));
    const again = await ends(step("rehearse", "Rehearse"), 0);
    expect(again.summary).toContain("### Plan: 0 contacts to write");
  });

  it("apply nothing else than what was shown", async () => {
    const { step, merge, ecm, active, file, folder } = await runner({ "a.csv": "Email\nada@example.com\n" });
    await ecm("lists create Newsletter");
    await step("rehearse", "Rehearse");
    const plan = join(folder, "plans", "a.ndjson");
    const text = await readFile(plan, "utf8");
    await writeFile(plan, text.replaceAll("ada@", "eve@"));
    expect((await merge()).code).toBe(2);
    const digests = join(folder, "plans", "digests");
    const shown = await readFile(digests, "utf8");
    await writeFile(plan, text);
    await writeFile(digests, shown.replace(/[0-9a-f]{8} /, "00000000 "));
    expect((await merge()).code).toBe(2);
    await writeFile(digests, shown);
    await file("head", "");
    expect((await merge()).stderr).toContain("is of no pull request");
    await file("head", "abc\n");
    await file("run", "");
    expect((await merge()).stderr).toContain("No rehearsal of abc has passed");
    expect(await active()).toBe(0);
    await file("run", "17\n");
    // Somebody else has made the contact meanwhile: it is left alone, and the job says so.
    await ecm("contact create --key ada@example.com");
    const late = await ends(merge(), 3);
    expect(late.summary).toContain("0 created, 0 updated, 0 unchanged, 1 skipped");
  });

  it("fail the check for rejected rows, for too many changes and for a list that does not exist, and go on with the other files", async () => {
    const { step, ecm, active, file } = await runner({ "a.csv": "Email\nada@example.com\n<i>nobody\n" });
    const refused = await ends(step("rehearse", "Rehearse"), 5);
    expect(refused.summary).toContain("<pre>The account has no list");
    await ecm("lists create Newsletter");
    await file("contacts/b.csv", "Email\neve@example.com\n");
    const rejected = await ends(step("rehearse", "Rehearse"), 3);
    expect(rejected.summary).toContain("1 reject\n");
    expect(rejected.summary).not.toContain("nobody");
    expect(rejected.summary).toContain("### contacts/b.csv");
    expect(workflow.env.MAX_CHANGES).toBe("50%");
    expect(await active()).toBe(0);
  });
});
