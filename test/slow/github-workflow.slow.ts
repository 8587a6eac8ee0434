/** The steps of examples/github-workflow.yml, run as GitHub runs them, against the embedded service behind a port. */
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { machine, missingTools } from "../recipes.kit.ts";
import { resultOf } from "../support/ecm.ts";

interface Step {
  name?: string;
  run?: string;
  shell?: string;
  env?: Record<string, string>;
}

interface Workflow {
  env: Record<string, string>;
  permissions: unknown;
  jobs: Record<string, { if: string; environment?: string; steps: Step[] }>;
}

const file = fileURLToPath(new URL("../../examples/github-workflow.yml", import.meta.url));
const workflow = parse(await readFile(file, "utf8")) as Workflow;
const missing = missingTools(["bash", "jq"]);
const told = missing.length > 0 ? ` (not tested: there is no ${missing.join(", ")} here)` : "";

/** A runner with these files in `contacts/`. */
async function runner(files: Record<string, string>) {
  const made = await machine();
  for (const [name, text] of Object.entries(files)) await made.file(`contacts/${name}`, text);
  const summary = join(made.folder, "summary.md");
  /** `bash` with the flags that GitHub gives it. */
  const step = async (job: string, name: string) => {
    const { run, env } = workflow.jobs[job]!.steps.find((each) => each.name === name)!;
    await writeFile(summary, "");
    const script = await made.file("step.sh", run!);
    const { ECM_READ_ONLY } = env!;
    const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], {
      cwd: made.folder,
      env: {
        ...made.env,
        CONTACTS_LIST: workflow.env.CONTACTS_LIST,
        GITHUB_STEP_SUMMARY: summary,
        RUNNER_TEMP: made.folder,
        ...(ECM_READ_ONLY ? { ECM_READ_ONLY } : {}),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return { ...(await resultOf(child)), summary: await readFile(summary, "utf8") };
  };
  const active = async () => Number((await made.ecm("contact", "search", "--count")).stdout);
  return { ...made, step, active };
}

describe("the workflow", () => {
  it("gives the rehearsal a key that reads, and the other one only to what is merged", () => {
    const { rehearse, apply } = workflow.jobs;
    const secrets = (job: { steps: Step[] }) => JSON.stringify(job.steps).match(/secrets\.\w+/g);
    expect(secrets(rehearse!)).toEqual(["secrets.ECM_READ_KEY"]);
    expect(secrets(apply!)).toEqual(["secrets.ECM_API_KEY"]);
    expect(rehearse!.if).toContain("head.repo.full_name == github.repository");
    expect(apply).toMatchObject({ if: "github.event_name == 'push'", environment: "contacts" });
    expect(workflow.permissions).toEqual({ contents: "read" });
    // Nothing that a pull request can choose becomes part of a script.
    for (const { steps } of Object.values(workflow.jobs)) {
      for (const { run } of steps) expect(run ?? "").not.toContain("${{");
    }
  });
});

describe.skipIf(missing.length > 0)(`the workflow's steps${told}`, () => {
  it("rehearse without a write, with the plan as the summary; then import; then find nothing to do", async () => {
    const { step, ecm, active } = await runner({
      "a.csv": 'Email,First Name\nada@example.com,<b>|`A`\nbob@example.com,"Two\nlines"\n',
      "b.csv": "Email\neve@example.com\n",
    });
    await ecm("lists", "create", "Newsletter");
    const rehearsed = await step("rehearse", "Rehearse");
    expect(rehearsed.code, rehearsed.stderr).toBe(0);
    expect(rehearsed.summary).toContain("### contacts/a.csv");
    expect(rehearsed.summary).toContain("2 rows: **2 created, 0 updated**");
    expect(rehearsed.summary).toContain("<td>ada@example.com</td><td>create</td>");
    expect(rehearsed.summary).toContain("&lt;b&gt;|");
    expect(rehearsed.summary).not.toContain("<b>");
    expect(rehearsed.summary).toContain("→ Two lines");
    expect(rehearsed.summary).toContain("### contacts/b.csv");
    expect(await active()).toBe(0);

    const applied = await step("apply", "Import");
    expect(applied.code, applied.stderr).toBe(0);
    expect(applied.summary).toContain("completed: 2 created, 0 updated");
    expect(await active()).toBe(3);
    const again = await step("rehearse", "Rehearse");
    expect(again.code).toBe(0);
    expect(again.summary).toContain("**0 created, 0 updated**, 2 unchanged");
    expect(again.summary).not.toContain("<table>");
  });

  it("fail the check for rejected rows and for a list that does not exist, and go on with the other files", async () => {
    const { step, ecm, active } = await runner({
      "a.csv": "Email\nada@example.com\n<i>nobody\n",
      "b.csv": "Email\neve@example.com\n",
    });
    const refused = await step("rehearse", "Rehearse");
    expect(refused.code).toBe(5);
    expect(refused.summary).toContain("<pre>The account has no list");
    await ecm("lists", "create", "Newsletter");
    const rejected = await step("rehearse", "Rehearse");
    expect(rejected.code).toBe(3);
    expect(rejected.summary).toContain("**1 rejected**");
    expect(rejected.summary).toContain("&lt;i&gt;nobody</td><td>reject</td>");
    expect(rejected.summary).toContain("### contacts/b.csv");
    const applied = await step("apply", "Import");
    expect(applied.code).toBe(3);
    expect(await active()).toBe(2);
  });
});
