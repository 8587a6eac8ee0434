/**
 * What the README says that people do, done by the commands as they stand there.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { machine, recipe } from "./recipes/kit.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

recipe("the things people do with it", () => {
  it("are done by the commands shown", async () => {
    const { folder, env, ecm, file, pipe, service } = await machine();
    const things = readme.slice(readme.indexOf("## Six things"), readme.indexOf("## What an import costs"));
    const lines = [...things.matchAll(/^ {4}(ecm .*)$/gm)].map(([, line]) => line!);
    expect(lines.length).toBeGreaterThan(10);
    for (const list of ["Customers", "Spring fair"]) await ecm("lists", "create", list);
    await ecm("structure", "tag", "add", "VIP");
    const domains = JSON.stringify({ domains: [{ domain: "example.com" }] });
    await pipe(domains, "sandbox", "seed", "-", "--data", service);
    await file("customers.csv", "Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n");
    await file("vip.txt", "ada@example.com\n");
    await file("left.csv", "Email\nbob@example.com\n");
    await file("attendees.csv", "Email\nbob@example.com\n");
    await file("nightly.sh", "#!/bin/sh\necm lists list\n", 0o755);
    const said = new Map<string, string>();
    for (const line of lines.filter((each) => each !== "ecm auth login")) {
      const command = line.replace("RUN", "last");
      const stdio = ["ignore", "pipe", "pipe"] as const;
      said.set(
        line,
        execFileSync("bash", ["-c", command], { cwd: folder, env, encoding: "utf8", stdio: [...stdio] }),
      );
    }
    const { stdout } = await ecm("import", `${folder}/customers.xlsx`, "--dry-run", "--json");
    expect(JSON.parse(stdout).rows).toMatchObject({ read: 2, unchanged: 2 });
    expect(said.get("ecm contact search --status active --count")).toBe("2\n");
    expect(said.get("ecm contact get ada@example.com --json | jq .status.primary")).toBe('"active"\n');
    expect(said.get("ecm structure diff structure.yaml")).toBe("");
  });
});
