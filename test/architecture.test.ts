/** The rules of the architecture, read from the imports and held against docs/architecture.md. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));

interface SourceFile {
  /** Path below src/. */
  path: string;
  folder: string;
  text: string;
  /** Own files, as paths below src/; types only are left out where `isType`. */
  imports: { path: string; isType: boolean }[];
  packages: string[];
}

/** The words of a text. */
const words = (text: string) => text.split(/\s+/).filter(Boolean);

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map(readSource);

function readSource(path: string): SourceFile {
  const text = readFileSync(join(source, path), "utf8");
  const imports: SourceFile["imports"] = [];
  const packages: string[] = [];
  const statements = text.matchAll(
    /(?:^|\n)\s*(import|export)(\s+type)?\s[^;]*?from\s*"([^"]+)"|import\(\s*"([^"]+)"\s*\)/g,
  );
  for (const [, , type, from, dynamic] of statements) {
    const specifier = from ?? dynamic!;
    if (specifier.startsWith(".")) {
      imports.push({
        path: relative(source, resolve(dirname(join(source, path)), specifier)),
        isType: type !== undefined,
      });
    } else packages.push(specifier);
  }
  return { path, folder: findFolder(path), text, imports, packages };
}

/** What is loaded as soon as this file is: what it imports, and so on. */
function findLoaded(start: string): { paths: Set<string>; packages: string[] } {
  const paths = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (paths.has(path)) return;
    paths.add(path);
    const text = files.find((file) => file.path === path)?.text ?? "";
    for (const [, from] of text.matchAll(/(?:^|\n)(?:import|export) (?!type )[^;]*?from "([^"]+)"/g)) {
      if (from!.startsWith(".")) visit(relative(source, resolve(dirname(join(source, path)), from!)));
      else if (!from!.startsWith("node:")) packages.add(from!);
    }
  };
  visit(start);
  return { paths, packages: [...packages] };
}

/** The folder below src/, or the file itself for one directly in it. */
function findFolder(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : path;
}

/** Any file may import these. */
const everyone = words(`
  errors.ts wire.ts rate-limits.ts moments.ts counts.ts request-target.ts hint.ts delimited-lines.ts
  text-index.ts json.ts disk`);

/** Of each folder, or file beside the folders, those that it may import; the others import nothing but `everyone`. */
const mayImport: Record<string, string> = {
  "version.ts": "../package.json",
  api: "api",
  service: "service api select structure",
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
const bulkOrder = [
  ["desired.ts", "decide.ts", "values.ts"],
  ["pace"],
  ["runs"],
  ["plan"],
  ["apply"],
  ["jobs"],
  ["index.ts"],
];

function findBulkFolder(path: string): string {
  return path.split("/")[1]!;
}

/** Of an index, types apart. */
const maxNames = 30;
/** `ecm sandbox …` is the one group of commands that works on the embedded service itself. */
const sandboxCommands = /^commands\/sandbox\//;

describe("the architecture", () => {
  it("has files to look at", () => {
    expect(files.length).toBeGreaterThan(30);
  });

  it.each(files)("$path imports only what its folder may", ({ path, folder, imports }) => {
    const allowed = [...everyone, ...words(mayImport[folder] ?? "")];
    if (sandboxCommands.test(path)) allowed.push("sandbox");
    const strangers = imports.filter(
      (each) => !allowed.includes(findFolder(each.path)) && !allowed.includes(each.path),
    );
    expect(strangers.map((each) => each.path)).toEqual([]);
  });

  it.each(["bulk", "tables"])("enters %s by its index, which has few names", (room) => {
    const entries = files
      .filter(({ folder }) => folder !== room)
      .flatMap(({ path, imports }) =>
        imports.filter((each) => each.path.startsWith(`${room}/`)).map((each) => `${path} → ${each.path}`),
      );
    expect(entries.filter((entry) => !entry.endsWith(` → ${room}/index.ts`))).toEqual([]);
    const { text } = files.find(({ path }) => path === `${room}/index.ts`)!;
    const names = [...text.matchAll(/export \{([^}]*)\}/g)]
      .flatMap(([, list]) => list!.split(","))
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type "));
    expect(names.length).toBeLessThanOrEqual(maxNames);
  });

  it("has no circle of imports, types included", () => {
    expect(
      circlesIn(new Map(files.map(({ path, imports }) => [path, imports.map((each) => each.path)]))),
    ).toEqual([]);
  });

  it("has no command that imports another noun's command", () => {
    const crossings = files.flatMap(({ path, imports }) =>
      path.startsWith("commands/")
        ? imports
            .filter((each) => each.path.startsWith("commands/"))
            .filter(
              (each) =>
                !/^commands\/(?:output|flags|selection|help|bulk)\//.test(each.path) &&
                !dirname(each.path).startsWith(dirname(path)) &&
                !dirname(path).startsWith(dirname(each.path)),
            )
            .map((each) => `${path} → ${each.path}`)
        : [],
    );
    expect(crossings).toEqual([]);
  });

  it.each(files.filter(({ folder }) => folder === "bulk"))(
    "$path of the bulk engine imports only what comes before it",
    ({ path, imports }) => {
      const place = bulkOrder.findIndex((names) => names.includes(findBulkFolder(path)));
      expect(place, `${path} has no place in the order`).not.toBe(-1);
      const before = bulkOrder.slice(0, place + 1).flat();
      const strangers = imports
        .filter((each) => each.path.startsWith("bulk/"))
        .filter((each) => !before.includes(findBulkFolder(each.path)));
      expect(strangers.map((each) => each.path)).toEqual([]);
    },
  );

  it("shares nothing but wire types between the embedded service and the client", () => {
    const shared = files
      .filter((file) => file.folder === "sandbox")
      .flatMap((file) =>
        file.imports.filter((each) => each.path === "wire.ts" && !each.isType).map(() => file.path),
      );
    expect(shared).toEqual([]);
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
    const users = files.filter((file) =>
      file.packages.some((each) => each === name || each.startsWith(`${name}/`)),
    );
    expect(users.map((file) => file.path).filter((path) => !where.test(path))).toEqual([]);
    expect(users.length).toBeLessThanOrEqual(most);
  });

  it("loads no package for the index of commands but those that colour it and find its folders", () => {
    const { packages } = findLoaded("run.ts");
    expect(packages.toSorted()).toEqual(["chalk", "env-paths"]);
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
    expect(
      files.map((file) => file.path).filter((path) => /(utils?|common|helpers?|misc)(\.ts|\/)/.test(path)),
    ).toEqual([]);
  });
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
