/** The manual: pages written from the command tree, and where they are put. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { groups } from "../../src/commands/groups.ts";
import { type Ecm, ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";

let ecm: Ecm;
beforeEach(async () => {
  ecm = ecmWith(await temporaryHome());
});

const headings = (page: string) => [...page.matchAll(/^\.SH (.+)$/gm)].map(([, heading]) => heading);

async function installManual(home: string): Promise<Map<string, string>> {
  const { code } = await ecm(["completion", "bash", "--install"], { env: { HOME: home } });
  expect(code).toBe(0);
  const folder = join(home, ".local/share/man/man1");
  const names = await readdir(folder);
  const texts = names.map((name) => readFile(join(folder, name), "utf8"));
  return new Map((await Promise.all(texts)).map((text, at) => [names[at]!.replace(/\.1$/, ""), text]));
}

describe("the manual", () => {
  it("has a page for ecm with its topics, and one for every group with the help of its commands", async () => {
    const manual = await installManual(await temporaryFolder());
    expect(headings(manual.get("ecm")!)).toEqual(
      expect.arrayContaining(["NAME", "COMMANDS", "FLAGS", "ENVIRONMENT", "EXIT CODES", "WHERE", "FILES"]),
    );
    const visible = groups.filter(({ summary }) => summary);
    expect([...manual.keys()].sort()).toEqual(["ecm", ...visible.map(({ name }) => `ecm-${name}`)].sort());
    for (const { name } of visible) {
      const page = manual.get(`ecm-${name}`)!;
      expect(headings(page).at(1), name).toMatch(new RegExp(`^ecm ${name}`));
      for (const part of ["Usage: ecm ", "Examples:", "Exit codes:"]) expect(page, name).toContain(part);
      expect(page).not.toContain("\u001b");
    }
    expect(headings(manual.get("ecm-lists")!)).toContain("ecm lists rename");
    expect(manual.get("ecm-import")).toContain("\nSee it first:\n");
  });

  it("is put in place with the completions, and only once", async () => {
    const env = { HOME: await temporaryFolder() };
    const { stderr } = await ecm(["completion", "bash", "--install"], { env });
    expect(stderr).toContain(`pages: ${join(env.HOME, ".local/share/man/man1")} (man ecm)`);
    expect((await ecm(["completion", "bash", "--install"], { env })).stderr).not.toContain("manual");
  });
});

describe("a group alone", () => {
  it("prints its help, and lists what is on this machine", async () => {
    const lists = await ecm(["lists"]);
    expect(lists).toMatchObject({ code: 0, stderr: "" });
    expect(lists.stdout).toBe((await ecm(["lists", "--help"])).stdout);
    expect((await ecm(["runs"])).stdout).toBe((await ecm(["runs", "list"])).stdout);
    expect((await ecm(["auth", "--json"])).stdout).toBe((await ecm(["auth", "list", "--json"])).stdout);
  });
});

it("the help of an import shows every flag under a heading", async () => {
  const { stdout } = await ecm(["import", "--help"]);
  const [, others = ""] = /^Options:\n([\s\S]*?)\n\n/m.exec(stdout) ?? [];
  expect(others).toMatch(/^ +-h, --help +show help$/);
  for (const heading of ["The file", "Columns", "See it first", "Requests and time", "Rejected rows"])
    expect(stdout).toContain(`\n${heading}:\n`);
});
