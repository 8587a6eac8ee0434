/** The rules of the architecture, read from the imports and held against docs/architecture.md. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));

/** The words of a text. */
const words = (text: string) => text.split(/\s+/).filter(Boolean);

/** The folder below src/, or the file itself for one directly in it. */
const findFolder = (path: string): string => path.split("/")[0]!;

interface Import {
  /** A path below src/, or the name of a package. */
  to: string;
  isOwn: boolean;
  kind: "type" | "static" | "dynamic";
}

const importing = /(?:^|\n)\s*(?:import|export)(\s+type)?\s[^;]*?from\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)/g;

function readSource(path: string) {
  const text = readFileSync(join(source, path), "utf8");
  const imports = [...text.matchAll(importing)].map(([, type, from, dynamic]): Import => {
    const specifier = from ?? dynamic!;
    const isOwn = specifier.startsWith(".");
    const kind = type ? "type" : from ? "static" : "dynamic";
    return { to: isOwn ? join(dirname(path), specifier) : specifier, isOwn, kind };
  });
  const own = imports.filter(({ isOwn }) => isOwn);
  return { path, folder: findFolder(path), text, imports, own };
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map(readSource);
type SourceFile = (typeof files)[number];

/** What is loaded as soon as this file is: what it imports, and so on. */
function findLoaded(start: string): { paths: Set<string>; packages: string[] } {
  const paths = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (paths.has(path)) return;
    paths.add(path);
    for (const { to, isOwn, kind } of files.find((file) => file.path === path)?.imports ?? []) {
      if (kind !== "static") continue;
      if (isOwn) visit(to);
      else if (!to.startsWith("node:")) packages.add(to);
    }
  };
  visit(start);
  return { paths, packages: [...packages] };
}

/** Any file may import these. */
const everyone = words(`
  errors.ts wire.ts rate-limits.ts moments.ts counts.ts request-target.ts hint.ts delimited-lines.ts
  text-index.ts json.ts disk`);

/** Of each folder, or file beside the folders, those that it may import; the others import nothing but `everyone`. */
const mayImport: Record<string, string> = {
  "version.ts": "../package.json",
  api: "api",
  service: "service api structure",
  select: "select service api",
  structure: "structure api",
  http: "http version.ts",
  config: "config",
  suppressions: "suppressions api",
  privacy: "privacy api bulk",
  tables: "tables api",
  bulk: "bulk tables suppressions service select api",
  events: "events service api",
  sandbox: "sandbox version.ts clock.ts",
  terminal: "terminal",
  commands: `commands api service select structure bulk tables suppressions privacy events config terminal context.ts
  chunks.ts version.ts`,
  "connection.ts": "config http sandbox service api terminal",
  "context.ts": "config terminal clock.ts connection.ts",
  "program.ts": "commands context.ts terminal version.ts",
  "run.ts": "commands context.ts program.ts terminal",
  "main.ts": "config run.ts version.ts",
};
/** The folders of the bulk engine; each may import those of its own line and of the lines before. */
const bulkOrder = ["desired.ts decide.ts values.ts", ...words("pace runs plan apply jobs index.ts")].map(
  words,
);

const findBulkPlace = (path: string) => bulkOrder.findIndex((names) => names.includes(path.split("/")[1]!));

/** What the nouns of commands share. */
const shared = /^commands\/(?:output|flags|selection|help|bulk)\//;
/** Of an index, types apart. */
const maxNames = 30;

/** Whether a rule is broken by a file that imports another one of ours. */
type Breach = (from: SourceFile, to: string, kind: Import["kind"]) => boolean;

const entersBeside =
  (room: string): Breach =>
  ({ folder }, to) =>
    folder !== room && findFolder(to) === room && to !== `${room}/index.ts`;

const breaches: Record<string, Breach> = {
  "has no file that imports what its folder may not": ({ path, folder }, to) => {
    const allowed = [...everyone, ...words(mayImport[folder] ?? "")];
    // `ecm sandbox …` is the one group of commands that works on the embedded service itself.
    if (path.startsWith("commands/sandbox/")) allowed.push("sandbox");
    return !allowed.includes(findFolder(to)) && !allowed.includes(to);
  },
  "enters bulk by its index": entersBeside("bulk"),
  "enters tables by its index": entersBeside("tables"),
  "has no command that imports another noun's command": ({ path }, to) => {
    if (![path, to].every((each) => each.startsWith("commands/")) || shared.test(to)) return false;
    const [from, noun] = [dirname(path), dirname(to)];
    return !noun.startsWith(from) && !from.startsWith(noun);
  },
  "has no file of the bulk engine that imports what comes after it": ({ path, folder }, to) =>
    folder === "bulk" && findFolder(to) === "bulk" && findBulkPlace(to) > findBulkPlace(path),
  "shares nothing but wire types between the embedded service and the client": ({ folder }, to, kind) =>
    folder === "sandbox" && to === "wire.ts" && kind !== "type",
};

it("has files to look at", () => expect(files.length).toBeGreaterThan(30));

it.each(Object.entries(breaches))("%s", (_rule, breaks) => {
  const found = files.flatMap((from) =>
    from.own.filter(({ to, kind }) => breaks(from, to, kind)).map(({ to }) => `${from.path} → ${to}`),
  );
  expect(found).toEqual([]);
});

it.each(["bulk", "tables"])("has few names in the index of %s", (room) => {
  const { text } = files.find(({ path }) => path === `${room}/index.ts`)!;
  const lists = Array.from(text.matchAll(/export \{([^}]*)\}/g), ([, list]) => list!.split(","));
  const names = lists.flat().map((name) => name.trim());
  const values = names.filter((name) => name !== "" && !name.startsWith("type "));
  expect(values.length).toBeLessThanOrEqual(maxNames);
});

it("has a place in the order for each file of the bulk engine", () => {
  const engine = files.filter(({ folder }) => folder === "bulk").map(({ path }) => path);
  expect(engine.filter((path) => findBulkPlace(path) === -1)).toEqual([]);
});

it("has no circle of imports, types included", () => {
  expect(circlesIn(new Map(files.map(({ path, own }) => [path, own.map(({ to }) => to)])))).toEqual([]);
});

const dependencyOwners: [name: string, where: RegExp, files?: number][] = [
  ["@commander-js/extra-typings", /^program\.ts$|^commands\//],
  ["undici", /^http\//],
  ["conf", /^config\//],
  ["@inquirer/prompts", /^terminal\//],
  ["chalk", /^terminal\//],
  ["cli-table3", /^terminal\//, 1],
  ["libsql", /^sandbox\//, 1],
  ["hono", /^sandbox\//],
  ["csv-parse", /^tables\//, 1],
  ["yauzl", /^tables\/workbook\/parts\.ts$/, 1],
  ["yazl", /^disk\/workbook\.ts$/],
  ["sax", /^tables\/workbook\//, 1],
  ["numfmt", /^tables\/workbook\//, 1],
  ["@streamparser/json", /^tables\/json\.ts$/, 1],
  ["@modelcontextprotocol/server", /^commands\/mcp\//, 1],
];
it.each(dependencyOwners)("%s is imported in one place", (name, where, most = files.length) => {
  const isIt = ({ to }: Import) => to === name || to.startsWith(`${name}/`);
  const users = files.filter(({ imports }) => imports.some(isIt)).map(({ path }) => path);
  expect(users.filter((path) => !where.test(path))).toEqual([]);
  expect(users.length).toBeLessThanOrEqual(most);
});

it("loads no package for the index of commands but those that colour it and find its folders", () => {
  expect(findLoaded("run.ts").packages.toSorted()).toEqual(["chalk", "env-paths"]);
});

it("loads neither the bulk engine nor the readers of files with a group of commands, for its help", () => {
  const groups = files.map(({ path }) => path).filter((path) => /^commands\/[\w-]+\/index\.ts$/.test(path));
  const loaded = groups.filter((path) => {
    const { paths } = findLoaded(path);
    return paths.has("bulk/index.ts") || paths.has("tables/index.ts");
  });
  expect(loaded).toEqual([]);
});

it("touches process and console in main.ts, context.ts, terminal/ and disk/this-process.ts alone", () => {
  const touching = files
    .filter((file) => !/^(main|context)\.ts$|^terminal\/|^disk\/this-process\.ts$/.test(file.path))
    .filter((file) => /(?<![\w."'`-])(process|console)\.\w/.test(withoutComments(file.text)));
  expect(touching.map((file) => file.path)).toEqual([]);
});

it("has no drawer without a name", () => {
  const paths = files.map(({ path }) => path);
  expect(paths.filter((path) => /(utils?|common|helpers?|misc)(\.ts|\/)/.test(path))).toEqual([]);
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(^|[^:])\/\/.*$/gm, "$1");
}

/** Files of which each leads to itself, by a depth-first search; a file is named where it closes a circle. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start !== -1) circles.push([...way.slice(start), path].join(" → "));
    if (start !== -1 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return circles;
}
