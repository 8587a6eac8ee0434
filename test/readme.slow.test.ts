/** The README's commands as they stand there, without the installing and building. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "./support/ecm.ts";

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
