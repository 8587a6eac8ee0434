/** Builds `dist/`: one split bundle, each command in a chunk of its own, loaded when it is needed. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

/** Leaves out what a bundled package loads at once and we never use: a good part of its start-up, each time. */
function without(filter, importer, contents) {
  return {
    name: `without ${filter}`,
    setup(bundler) {
      const namespace = `without-${filter}`;
      bundler.onResolve({ filter }, ({ path, importer: from }) =>
        importer.test(from) ? { path, namespace } : undefined,
      );
      bundler.onLoad({ filter: /.*/, namespace }, () => ({ contents }));
    },
  };
}

const omissions = [
  // conf validates when it is given a schema; we give none.
  without(
    /^ajv(-formats)?(\/.*)?$/,
    /[\\/]conf[\\/]/,
    "export class Ajv2020 { constructor() { throw new Error('schemas are not supported') } }\nexport default Ajv2020",
  ),
  // undici can speak HTTP/2; we speak HTTP/1.1.
  without(/^node:http2$/, /[\\/]undici[\\/]/, "module.exports = { constants: {} }"),
  // commander starts subcommands that are programs of their own; ours are not.
  without(
    /^(node:)?child_process$/,
    /[\\/]commander[\\/]/,
    "export function spawn() { throw new Error('no subcommand is a program of its own') }",
  ),
];

// Bundled CommonJS packages ask for Node's own modules through `require`.
const banner = "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);";

// Old chunks stay unless `--clean` is given: a program that is running may still ask for them.
if (process.argv.includes("--clean")) await rm("dist", { recursive: true, force: true });
const { metafile } = await build({
  metafile: true,
  entryPoints: ["src/main.ts"],
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  minify: true,
  external: ["libsql"],
  plugins: omissions,
  banner: { js: banner },
  logLevel: "warning",
});

// Most chunks hold no such package, and start faster without.
for (const path of Object.keys(metafile.outputs)) {
  const code = await readFile(path, "utf8");
  const rest = code.replace(banner, "");
  if (!/\brequire\b/.test(rest)) await writeFile(path, rest.trimStart());
}

// What is bundled keeps its notices.
const packages = new Set(
  Object.keys(metafile.inputs).flatMap(
    (path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [],
  ),
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
