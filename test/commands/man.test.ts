/** The manual: pages written from the command tree, and where they are put. */
import { existsSync } from "node:fs";
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

describe("ecm man", () => {
  it("writes the source of a page where it is redirected", async () => {
    const { code, stdout, stderr } = await ecm(["man"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^\.TH ECM 1 /);
    for (const heading of [
      "DESCRIPTION",
      "EXAMPLES",
      "FILES",
      "ENVIRONMENT",
      "EXIT STATUS",
      "WHERE",
      "SEE ALSO",
    ])
      expect(headings(stdout)).toContain(heading);
  });

  it("has a page for every group, with its commands, flags, examples and files", async () => {
    const manual = JSON.parse((await ecm(["man", "--whole"])).stdout) as Record<string, string>;
    const visible = groups.filter(({ isHidden }) => !isHidden);
    expect(Object.keys(manual).sort()).toEqual(["ecm", ...visible.map(({ name }) => `ecm-${name}`)].sort());
    for (const { name } of visible)
      for (const heading of [
        "NAME",
        "SYNOPSIS",
        "DESCRIPTION",
        "EXAMPLES",
        "FILES",
        "EXIT STATUS",
        "SEE ALSO",
      ])
        expect(headings(manual[`ecm-${name}`]!), name).toContain(heading);
    expect(manual["ecm-lists"]).toContain(".SS ecm lists rename\n");
    expect(manual["ecm-import"]).toContain(".B See it first:\n");
    expect((await ecm(["man", "list"])).stdout).toBe(manual["ecm-lists"]);
  });

  it("knows what was likely meant", async () => {
    const { code, stderr } = await ecm(["man", "improt"]);
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: 'error: There is no page about "improt"\nhint: Did you mean import?\n',
    });
  });

  it("is put in place with the completions, and only once", { tags: "slow" }, async () => {
    const home = await temporaryFolder();
    const env = { HOME: home };
    const tried = await ecm(["completion", "bash", "--install", "--dry-run"], { env });
    expect(tried.stderr).toMatch(/would write the manual, \d+ pages: .*man1 /);
    expect(existsSync(join(home, ".local"))).toBe(false);
    const { stderr } = await ecm(["completion", "bash", "--install"], { env });
    const folder = join(home, ".local/share/man/man1");
    expect(stderr).toContain(`pages: ${folder} (man ecm, or ecm man)`);
    expect(await readdir(folder)).toContain("ecm-lists.1");
    expect(await readFile(join(folder, "ecm.1"), "utf8")).toBe((await ecm(["man"])).stdout);
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

  it("is told in JSON what is missing", async () => {
    const { code, stderr, stdout } = await ecm(["lists", "--json"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr).error.message).toMatch(/^Choose a command: list, show, /);
  });
});

it("the help of an import shows every flag under a heading", async () => {
  const { stdout } = await ecm(["import", "--help"]);
  const [, others = ""] = /^Options:\n([\s\S]*?)\n\n/m.exec(stdout) ?? [];
  expect(others).toMatch(/^ +-h, --help +show help$/);
  for (const heading of ["The file", "Columns", "See it first", "Requests and time", "Rejected rows"])
    expect(stdout).toContain(`\n${heading}:\n`);
});
