/**
 * Builds `dist/`: one bundle, split where a module is loaded when it is needed. CommonJS, because Node starts it faster
 * than modules of the other kind, most of all Node 20.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build, rolldown } from "rolldown";
import { textFiles } from "./text-files.mjs";

/**
 * What bundled packages load at once and we never use, a good part of their start-up each time: what replaces it. These
 * packages are pinned to one version in package.json, and the build fails when one of them no longer loads what is left out.
 */
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
  // The server library still takes schemas of an older version of its own; we hand it JSON Schemas.
  {
    importer: "@modelcontextprotocol",
    wanted: /^(zod\/v3|zod-to-json-schema)$/,
    code: "const refuse = () => { throw new Error('only JSON Schemas') }\nexport const object = refuse\nexport const zodToJsonSchema = refuse",
  },
  // chalk looks whether colour is wanted; we tell it.
  {
    importer: "chalk",
    wanted: /^#supports-color$/,
    code: "export default { stdout: false, stderr: false }",
  },
];

const omitted = new Set();
const leaveOut = {
  name: "leave out",
  resolveId(source, importer = "") {
    const found = omissions.findIndex(
      (each) => each.wanted.test(source) && importer.includes(`/node_modules/${each.importer}/`),
    );
    if (found === -1) return undefined;
    omitted.add(found);
    return `\0left out ${found}`;
  },
  load(id) {
    const [, found] = id.match(/^\0left out (\d+)$/) ?? [];
    return found && omissions[Number(found)].code;
  },
  buildEnd(error) {
    if (error) return;
    const stale = omissions.filter((_, place) => !omitted.has(place));
    if (stale.length === 0) return;
    const names = stale.map(({ importer, wanted }) => `${importer}: ${wanted}`);
    throw new Error(`left out of a package that does not load it any more:\n${names.join("\n")}`);
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
    const statement = /^(?:const|let) ([\w$]+) = (require\(".+"\));\n(?:\1 = (.+)\(\1(.*)\);\n)?/;
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
    const early = body.match(/^(?:const|let|var) .*\brequire\(/m);
    if (early) throw new Error(`loaded at once in spite of "require late": ${early[0]}`);
    if (names.length === 0) return undefined;
    const alternatives = names.map((name) => name.replaceAll("$", "\\$")).join("|");
    const uses = new RegExp(`(?<![\\w$])(${alternatives})(?![\\w$])`, "g");
    return { code: head + body.replace(uses, "($1())") };
  },
};

/** Gives `src/chunks.ts` the names of the files of this build, but for what one command alone needs and loads at its start. */
const nameChunks = {
  name: "name chunks",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((each) => each.type === "chunk");
    const isOfOneCommand = ({ moduleIds }) => moduleIds.some((id) => id.includes("/@modelcontextprotocol/"));
    const late = chunks.filter((each) => !each.isEntry && !isOfOneCommand(each));
    const names = late.map((each) => `./${each.fileName}`);
    const places = chunks.filter((each) => each.code.includes(chunkNames));
    if (places.length !== 1) throw new Error(`${chunkNames} is in ${places.length} chunks`);
    places[0].code = places[0].code.replace(chunkNames, names.sort().join(" "));
  },
};
const chunkNames = "the build puts the names of its files here";

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
const common = { platform: "node", external: ["libsql"], transform: { target: "node20.19" } };
// Names stay, so that ECM_DEBUG=1 shows where something failed.
const minify = { compress: true, mangle: { keepNames: true }, codegen: true };
const bundle = await rolldown({
  ...common,
  input: "src/main.ts",
  preserveEntrySignatures: "allow-extension",
  onLog(level, log) {
    // Such as a module that is loaded at once and late: what shares its chunk may then run in a circle.
    // How long plugins take is the machine's matter, and differs with its load.
    if (level === "warn" && log.code !== "PLUGIN_TIMINGS") throw new Error(log.message);
  },
  plugins: [textFiles, leaveOut, findAlways, requireLate, nameChunks],
});
await bundle.write({
  dir: "dist",
  format: "cjs",
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name]-[hash].cjs",
  dynamicImportInCjs: false,
  codeSplitting: { groups },
  minify,
});
const files = await bundle.watchFiles;
await bundle.close();

// `ecm/sandbox`: one file of its own, so that what it needs does not change how the program is split. Its types are a source
// file that imports nothing.
await build({
  ...common,
  input: { sandbox: "src/sandbox/start-sandbox.ts" },
  plugins: [textFiles],
  output: {
    dir: "dist",
    format: "cjs",
    entryFileNames: "[name].cjs",
    codeSplitting: false,
    dynamicImportInCjs: false,
    minify,
  },
});
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
    const text = file ? await readFile(join(folder, file), "utf8") : "";
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  }),
);
await writeFile("dist/LICENSES.txt", notices.join(`\n${"-".repeat(80)}\n\n`));
