/**
 * Builds `dist/`: the program as one bundle, split wherever the source says `import()`, and `ecm-cli/sandbox` as a
 * file of its own; and `man/`, written from the command tree. CommonJS, because Node 20 starts it faster than
 * modules of the other kind.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { readDocuments } from "./documents.mjs";
import { textFiles } from "./text-files.mjs";

/** The files that are loaded when this one is: itself, what it imports, and what that imports. */
function listLoaded(id, graph, loaded = new Set()) {
  if (loaded.has(id)) return loaded;
  loaded.add(id);
  for (const each of graph.getModuleInfo(id)?.importedIds ?? []) listLoaded(each, graph, loaded);
  return loaded;
}

/** Makes the test of whether the load of these files loads a module. */
function loadedBy(...files) {
  const loaded = new Set();
  return (id, graph) => {
    if (loaded.size === 0) for (const file of files) listLoaded(resolve(file), graph, loaded);
    return loaded.has(id);
  };
}

/** A file of the output for what these files of the source load. */
function loadedTogether(name, ...files) {
  const isLoaded = loadedBy(...files);
  return { name: (id, graph) => (isLoaded(id, graph) ? name : null), debugName: name };
}

const versionFiles = ["src/version.ts", "package.json"].map((file) => resolve(file));

const bulkScreens = /src[\\/]commands[\\/]bulk[\\/]/;
const engineFile = resolve("src/bulk/index.ts");

/** Each file costs a start as much as several KiB of code: what is loaded together is in one file. */
const shared = [
  // All that `--version` loads.
  { name: "version", test: (id) => versionFiles.includes(resolve(id)) },
  // The index of commands: a help does not load what only commands share.
  loadedTogether("start", "src/run.ts", "src/disk/compiled-code.ts"),
  // What a command loads that sends a request or two.
  {
    ...loadedTogether("common", "src/program.ts", "src/commands/contact/index.ts"),
    minShareCount: 2,
  },
  loadedTogether("request", "src/config/resolve.ts", "src/connection.ts", "src/http/network.ts"),
  {
    name: "account",
    test: /src[\\/](api|config|disk|privacy|select|service|structure|suppressions)[\\/]/,
    minShareCount: 4,
  },
  // What needs the bulk engine is no part of what every command loads.
  {
    name: (id, graph) =>
      bulkScreens.test(id) && listLoaded(id, graph).has(engineFile) ? "bulk-commands" : null,
    debugName: "bulk-commands",
    minShareCount: 2,
  },
  { name: "commands", test: /src[\\/](commands|terminal)[\\/]/, minShareCount: 4 },
];

const output = {
  dir: "dist",
  format: "cjs",
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name]-[hash].cjs",
  dynamicImportInCjs: false,
  codeSplitting: { groups: shared.map((group) => ({ includeDependenciesRecursively: false, ...group })) },
  // Names stay, so that ECM_DEBUG=1 shows where something failed.
  minify: { compress: true, mangle: { keepNames: true }, codegen: true },
};

/** @returns the files that went into it */
async function bundle(input, outputOptions) {
  const built = await rolldown({
    input,
    preserveEntrySignatures: "allow-extension",
    platform: "node",
    external: ["libsql"],
    transform: { target: "node20.19" },
    plugins: [textFiles],
    // The types of its own are all that this package adds.
    resolve: { alias: { "@commander-js/extra-typings": "commander" } },
  });
  await built.write({ ...output, ...outputOptions });
  const files = await built.watchFiles;
  await built.close();
  return files;
}

// Old chunks stay unless `--clean` is given: a program that is running may still ask for them.
const files = await bundle("src/main.ts", { cleanDir: process.argv.includes("--clean") });
await bundle({ sandbox: "src/sandbox/start-sandbox.ts" }, { codeSplitting: false });

// Its types are a source file that imports nothing.
const types = await readFile("src/sandbox/public-types.ts", "utf8");
const signature =
  "/** Starts one on a free port of 127.0.0.1; rejects for a bad option. */\n" +
  "export declare function startSandbox(options?: StartSandboxOptions): Promise<StartedSandbox>;\n";
await writeFile("dist/sandbox.d.cts", `${types}\n${signature}`);

// What is bundled keeps its notices.
const packages = new Set(
  files.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []),
);
const notices = await Promise.all(
  [...packages].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${folder} is bundled, and has no licence file`);
    const text = await readFile(join(folder, file), "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  }),
);
await writeFile("dist/LICENSES.txt", notices.join(`\n${"-".repeat(80)}\n\n`));

// What npm links where it installs for everybody.
const { manual } = await readDocuments();
await rm("man", { recursive: true, force: true });
await mkdir("man");
for (const [name, page] of Object.entries(manual)) await writeFile(`man/${name}.1`, page);
