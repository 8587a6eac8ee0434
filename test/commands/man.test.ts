/** The manual: pages written from the command tree, and where they are put. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { groups } from "../../src/commands/groups.ts";
import { done, type Ecm, ecmWith, ends, temporaryFolder, temporaryHome } from "../kit.ts";

let ecm: Ecm;
beforeEach(async () => {
  ecm = ecmWith(await temporaryHome());
});

const headings = (page: string) => [...page.matchAll(/^\.SH (.+)$/gm)].map(([, heading]) => heading);

it("the manual has a page for ecm with its topics, and one for every group with the help of its commands", async () => {
  const HOME = await temporaryFolder();
  const folder = join(HOME, ".local/share/man/man1");
  const install = () => ecm("completion bash --install", { env: { HOME } });
  await ends(install(), 0, `pages: ${folder} (man ecm)`);
  expect((await install()).stderr).not.toContain("manual");

  const manual = new Map<string, string>();
  for (const name of await readdir(folder))
    manual.set(name.replace(/\.1$/, ""), await readFile(join(folder, name), "utf8"));
  const parts = ["NAME", "COMMANDS", "FLAGS", "ENVIRONMENT", "EXIT CODES", "WHERE", "FILES"];
  expect(headings(manual.get("ecm")!)).toEqual(expect.arrayContaining(parts));
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

it("the help of an import shows every flag under a heading", async () => {
  const help = await done(ecm("import --help"));
  const [, others = ""] = /^Options:\n([\s\S]*?)\n\n/m.exec(help) ?? [];
  expect(others).toMatch(/^ +-h, --help +show help$/);
  for (const heading of ["The file", "Columns", "See it first", "Requests and time", "Rejected rows"])
    expect(help).toContain(`\n${heading}:\n`);
});
