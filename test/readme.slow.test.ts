/** The README's commands as they stand there, without the installing and building; and what it says that people do. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { machine, recipe } from "./recipes/kit.ts";
import { done, ecmWith, readJson, temporaryHome, waitForResult } from "./support/ecm.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const readme = readFileSync(`${root}/README.md`, "utf8");
const quickStart = readme.slice(readme.indexOf("## Quick start"), readme.indexOf("## Six things"));
const commands = [...quickStart.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, command]) => command!.trim());

it("the quick start has two commands", () => {
  expect(commands).toHaveLength(2);
  expect(commands[1]).toBe("npm test");
});

it("the quick start imports a real export into the embedded service and finds a person of it; a second import writes nothing", async () => {
  const program = "node bin/ecm.js ";
  const steps = commands[0]!.split("&&").map((step) => step.trim());
  const [apply, importing, search] = steps
    .filter((step) => step.startsWith(program))
    .map((step) => step.slice(program.length)) as [string, string, string];
  const ecm = ecmWith(await temporaryHome());
  await done(ecm(apply));
  const rows = { read: 1000, created: 1000, rejected: 0, skipped: 0 };
  expect(await readJson(ecm, importing)).toMatchObject({ status: "completed", rows });
  const found = await done(ecm(search));
  for (const said of ["hanako.yamada@example.com", "花子 🌸", '"Tokyo, Japan"'])
    expect(found).toContain(said);
  const requests = { create: 0, mutate: 0 };
  expect(await readJson(ecm, importing)).toMatchObject({ rows: { read: 1000, unchanged: 1000 }, requests });
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
    process.chdir(folder);
    onTestFinished(() => process.chdir(root));
    for (const line of lines) {
      const command = line.replace("RUN", "last");
      const isForShells = /[|>]|sandbox exec/.test(command.replaceAll(/'.*?'/g, ""));
      const shell = () =>
        waitForResult(spawn("bash", ["-c", command], { env, stdio: ["ignore", "pipe", "pipe"] }));
      said.set(line, await done(isForShells ? shell() : ecm(command.replace("ecm ", ""))));
    }
    const { stdout } = await ecm(`import ${folder}/customers.xlsx --dry-run --json`);
    expect(JSON.parse(stdout).rows).toMatchObject({ read: 2, unchanged: 2 });
    expect(said.get("ecm contact search --status active --count")).toBe("2\n");
    expect(said.get("ecm contact get ada@example.com --json | jq .status.primary")).toBe('"active"\n');
    expect(said.get("ecm structure diff structure.yaml")).toBe("");
  });
});
