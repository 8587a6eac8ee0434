/**
 * Builds `dist/`: one bundle, split where a module is loaded when it is needed. CommonJS, because Node starts it faster
 * than modules of the other kind, most of all Node 20.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

/** What bundled packages load at once and we never use, a good part of their start-up each time: what stands there instead. */
const omissions = [
  // conf validates when it is given a schema; we give none.
  {
    importer: "conf",
    wanted: /^ajv(-formats)?(\/.*)?$/,
    code: "export class Ajv2020 { constructor() { throw new Error('schemas are not supported') } }\nexport default Ajv2020",
  },
  // undici can speak HTTP/2, and send forms and streams; we speak HTTP/1.1 and send text.
  { importer: "undici", wanted: /\/client-h2\.js$/, code: "module.exports = undefined" },
  { importer: "undici", wanted: /\/web\/fetch\/body\.js$/, code: "exports.extractBody = undefined" },
  // It asks Node's own client for its limit of headers, in bytes, and for a class that it warns of as a body.
  {
    importer: "undici",
    wanted: /^node:http$/,
    code: "exports.maxHeaderSize = 16384; exports.IncomingMessage = class {}",
  },
  // It asserts without words.
  {
    importer: "undici",
    wanted: /^node:assert$/,
    code: "module.exports = (holds) => { if (!holds) throw new Error('an assertion of undici does not hold') }",
  },
  // commander starts subcommands that are programs of their own; ours are not.
  {
    importer: "commander",
    wanted: /^node:child_process$/,
    code: "export function spawn() { throw new Error('no subcommand is a program of its own') }",
  },
  // cli-table3 measures text; it is given stand-ins that are as wide as they are long (terminal/table.ts).
  { importer: "cli-table3", wanted: /^string-width$/, code: "module.exports = (text) => text.length" },
  // chalk looks whether colour is wanted; we tell it.
  {
    importer: "chalk",
    wanted: /^#supports-color$/,
    code: "export default { stdout: false, stderr: false }",
  },
];

const leaveOut = {
  name: "leave out",
  resolveId(source, importer = "") {
    const found = omissions.findIndex(
      (each) => each.wanted.test(source) && importer.includes(`/node_modules/${each.importer}/`),
    );
    return found === -1 ? undefined : `\0left out ${found}`;
  },
  load(id) {
    const [, found] = id.match(/^\0left out (\d+)$/) ?? [];
    return found && omissions[Number(found)].code;
  },
};

/**
 * Has every chunk, and every module of Node's, loaded when something of it is first used. No module of ours does anything
 * when it is loaded, so the order in which they are does not matter.
 */
const requireLate = {
  name: "require late",
  renderChunk(code) {
    const names = [];
    const statement = /^(?:const|let) (\w+) = (require\(".+"\));\n(?:\1 = (.+)\(\1(.*)\);\n)?/;
    let head = "";
    let body = code;
    for (let found = body.match(statement); found; found = body.match(statement)) {
      const [whole, name, load, wrap, rest] = found;
      body = body.slice(whole.length);
      const isRuntime = name === "require_rolldown_runtime";
      const value = wrap ? `${wrap}(${load}${rest})` : load;
      head += isRuntime
        ? whole
        : `let loaded_${name};\nconst ${name} = () => (loaded_${name} ??= ${value});\n`;
      if (!isRuntime) names.push(name);
    }
    return names.length === 0
      ? undefined
      : { code: head + body.replace(new RegExp(`\\b(${names.join("|")})\\b`, "g"), "($1())") };
  },
};

/** What every command loads, whatever else shares it: one file. `--version` is answered without it. */
const always = new Set();
const findAlways = {
  name: "find what is always loaded",
  buildEnd() {
    const add = (id) => {
      if (always.has(id)) return;
      always.add(id);
      this.getModuleInfo(id).importedIds.forEach(add);
    };
    add(resolve("src/run.ts"));
  },
};

/** Every file costs a start as much as several KiB of code: what chunks share is one file for each room. */
const groups = [
  { name: "version", test: /[\\/]src[\\/]version\.ts$/ },
  { name: "run", test: (id) => always.has(id) },
  // For the few processors that cannot run undici's usual parser.
  { name: "llhttp", test: /[\\/]llhttp-wasm\.js$/ },
  {
    debugName: "rooms",
    name: (id) => id.match(/[\\/]src[\\/](\w+)[\\/]/)?.[1] ?? null,
    minShareCount: 2,
    includeDependenciesRecursively: false,
  },
];

// Old chunks stay unless `--clean` is given: a program that is running may still ask for them.
if (process.argv.includes("--clean")) await rm("dist", { recursive: true, force: true });
const bundle = await rolldown({
  input: "src/main.ts",
  platform: "node",
  external: ["libsql"],
  transform: { target: "node20.19" },
  preserveEntrySignatures: "allow-extension",
  plugins: [leaveOut, findAlways, requireLate],
});
await bundle.write({
  dir: "dist",
  format: "cjs",
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name]-[hash].cjs",
  dynamicImportInCjs: false,
  codeSplitting: { groups },
  minify: true,
});
const files = await bundle.watchFiles;
await bundle.close();

// What is bundled keeps its notices.
const packages = new Set(
  files.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []),
);
const notices = await Promise.all(
  [...packages].sort().map(async (folder) => {
    const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    const text = file ? await readFile(join(folder, file), "utf8") : "";
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  }),
);
await writeFile("dist/LICENSES.txt", notices.join(`\n${"-".repeat(80)}\n\n`));
