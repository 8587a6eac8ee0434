/** The README's commands as they stand there, without the installing and building; and what it says that people do. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { machine, recipe } from "./recipes/kit.ts";
import { done, temporaryFolder, waitForResult } from "./support/ecm.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(`${root}/README.md`, "utf8");
const quickStart = readme.slice(readme.indexOf("## Quick start"), readme.indexOf("## Six things"));
const commands = [...quickStart.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, command]) => command!.trim());

describe("the quick start", () => {
  it("has two commands", () => {
    expect(commands).toHaveLength(2);
    expect(commands[1]).toBe("npm test");
  });

  it("imports a real export into the embedded service and finds a person of it; a second import writes nothing", async () => {
    const home = await temporaryFolder();
    const steps = commands[0]!
      .split("&&")
      .map((step) => step.trim())
      .filter((step) => !step.startsWith("npm "));
    const shell = (step: string) =>
      execFileSync("bash", ["-c", step], {
        cwd: root,
        encoding: "utf8",
        env: { PATH: process.env.PATH, HOME: home },
        stdio: ["ignore", "pipe", "ignore"],
      });
    const [apply, importing, search] = steps as [string, string, string];
    shell(apply);
    const first = JSON.parse(shell(`${importing} --json`));
    expect(first.status).toBe("completed");
    expect(first.rows).toMatchObject({ read: 1000, created: 1000, rejected: 0, skipped: 0 });
    const [contact] = JSON.parse(shell(`${search} --json`));
    expect(contact.key).toBe("hanako.yamada@example.com");
    expect(shell(search)).toContain("花子 🌸");
    expect(shell(search)).toContain('"Tokyo, Japan"');

    const second = JSON.parse(shell(`${importing} --json`));
    expect(second.rows).toMatchObject({ read: 1000, unchanged: 1000 });
    expect(second.requests).toMatchObject({ create: 0, mutate: 0 });
  });
});

recipe("the things people do with it", () => {
  it("are done by the commands shown", async () => {
    const { folder, env, ecm, file, admin } = await machine();
    const things = readme.slice(readme.indexOf("## Six things"), readme.indexOf("## What an import costs"));
    const lines = [...things.matchAll(/^ {4}(ecm .*)$/gm)].map(([, line]) => line!);
    expect(lines.length).toBeGreaterThan(10);
    for (const list of ["Customers", "Spring fair"]) await ecm(["lists", "create", list]);
    await ecm("structure tag add VIP");
    admin().seed({ domains: [{ domain: "example.com" }] });
    await file("customers.csv", "Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n");
    await file("vip.txt", "ada@example.com\n");
    await file("left.csv", "Email\nbob@example.com\n");
    await file("attendees.csv", "Email\nbob@example.com\n");
    await file("nightly.sh", "#!/bin/sh\necm lists list\n", 0o755);
    const said = new Map<string, string>();
    for (const line of lines.filter((each) => each !== "ecm auth login")) {
      const command = line.replace("RUN", "last");
      const child = spawn("bash", ["-c", command], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
      said.set(line, await done(waitForResult(child)));
    }
    const { stdout } = await ecm(`import ${folder}/customers.xlsx --dry-run --json`);
    expect(JSON.parse(stdout).rows).toMatchObject({ read: 2, unchanged: 2 });
    expect(said.get("ecm contact search --status active --count")).toBe("2\n");
    expect(said.get("ecm contact get ada@example.com --json | jq .status.primary")).toBe('"active"\n');
    expect(said.get("ecm structure diff structure.yaml")).toBe("");
  });
});
