/**
 * Builds `dist/`: one bundle, split where a module is loaded when it is needed. CommonJS, because Node starts it faster
 * than modules of the other kind, most of all Node 20.
 */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";

/** What bundled packages load at once and we never use, a good part of their start-up each time: what stands there instead. */
const omissions = [
  // conf validates when it is given a schema; we give none.
  {
    importer: "conf",
    wanted: /^ajv(-formats)?(\/.*)?$/,
    code: "export class Ajv2020 { constructor() { throw new Error('schemas are not supported') } }\nexport default Ajv2020",
  },
  // undici can speak HTTP/2; we speak HTTP/1.1.
  { importer: "undici", wanted: /^node:http2$/, code: "export const constants = {}" },
  // commander starts subcommands that are programs of their own; ours are not.
  {
    importer: "commander",
    wanted: /^node:child_process$/,
    code: "export function spawn() { throw new Error('no subcommand is a program of its own') }",
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

// Old chunks stay unless `--clean` is given: a program that is running may still ask for them.
if (process.argv.includes("--clean")) await rm("dist", { recursive: true, force: true });
const bundle = await rolldown({
  input: "src/main.ts",
  platform: "node",
  external: ["libsql"],
  transform: { target: "node20.19" },
  plugins: [leaveOut],
});
await bundle.write({
  dir: "dist",
  format: "cjs",
  entryFileNames: "[name].cjs",
  chunkFileNames: "[name]-[hash].cjs",
  dynamicImportInCjs: false,
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
