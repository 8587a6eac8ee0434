/** What the pages name is there: files, headings and tests. What their blocks say is held by the tests of each page. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const filesIn = (folder: string) => readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
const pages = [
  ...readdirSync(root),
  "bench/results.md",
  ...filesIn("docs").map((name) => join("docs", name)),
].filter((name) => name.endsWith(".md"));
const textOf = (page: string) => readFileSync(join(root, page), "utf8");

/** The address of a heading, as GitHub makes it. */
const toAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");

/** What a page has in the group of this pattern. */
const findIn = (page: string, pattern: RegExp) =>
  Array.from(textOf(page).matchAll(pattern), ([, found]) => found!);

const anchorsOf = (page: string) => findIn(page, /^#+ (.*)$/gm).map(toAnchor);

it("every page links to what is there", () => {
  const links = pages.flatMap((page) => findIn(page, /\]\(([^)\s]+)\)/g).map((link) => ({ page, link })));
  const missing = links.filter(({ page, link }) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path, anchor] = link.split("#") as [string, string?];
    const target = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(links.length).toBeGreaterThan(50);
  expect(missing).toEqual([]);
});

/** What CONTRIBUTING.md has its reader write. */
const toBeWritten = ["src/commands/lists/count.ts", "src/tables/markdown.ts"];

it("every source file that a page names is there", () => {
  const files = ["src", "scripts", "bench", "test"].flatMap((folder) =>
    filesIn(folder).map((name) => join(folder, name)),
  );
  const pattern = /`([\w./-]+\.(?:ts|mjs|sql))`/g;
  const named = pages.flatMap((page) => findIn(page, pattern).map((name) => ({ page, name })));
  const missing = named.filter(
    ({ name }) =>
      !toBeWritten.includes(name) &&
      !name.endsWith(".test.ts") &&
      !existsSync(join(root, name)) &&
      !files.some((file) => file.endsWith(`/${name}`)),
  );
  expect(missing).toEqual([]);
});

it.each(["docs/sandbox-rules.md", "docs/what-is-survived.md", "CONTRIBUTING.md"])(
  "every file of tests that %s names exists",
  (page) => {
    const tests = filesIn("test").filter((name) => name.endsWith(".test.ts"));
    const named = findIn(page, /`(?:test\/)?([\w/-]+(?:\.slow)?\.test\.ts)`/g);
    expect(named.length).toBeGreaterThan(0);
    const known = [...tests, ...tests.map((test) => basename(test))];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  },
);

it("docs/sandbox-rules.md names every file of tests of the sandbox's rules", () => {
  const page = textOf("docs/sandbox-rules.md");
  const rules = ["keys", "errors", "limits", "structures", "lists", "contacts", "mutate", "search", "events"];
  expect(rules.filter((rule) => !page.includes(`\`${rule}.test.ts\``))).toEqual([]);
});
