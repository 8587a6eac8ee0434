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

const anchorsOf = (page: string) =>
  Array.from(textOf(page).matchAll(/^#+ (.*)$/gm), ([, heading]) => toAnchor(heading!));

it("every page links to what is there", () => {
  const links = pages.flatMap((page) =>
    Array.from(textOf(page).matchAll(/\]\(([^)\s]+)\)/g), ([, link]) => ({ page, link: link! })),
  );
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
  const named = pages.flatMap((page) =>
    Array.from(textOf(page).matchAll(/`([\w./-]+\.(?:ts|mjs|sql))`/g), ([, name]) => ({ page, name: name! })),
  );
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
    const named = Array.from(
      textOf(page).matchAll(/`(?:test\/)?([\w/-]+(?:\.slow)?\.test\.ts)`/g),
      ([, name]) => name!,
    );
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !tests.some((test) => test === name || basename(test) === name))).toEqual(
      [],
    );
  },
);

it("docs/sandbox-rules.md names every file of tests of the sandbox's rules", () => {
  const page = textOf("docs/sandbox-rules.md");
  const rules = ["keys", "errors", "limits", "structures", "lists", "contacts", "mutate", "search", "events"];
  expect(rules.filter((rule) => !page.includes(`\`${rule}.test.ts\``))).toEqual([]);
});
