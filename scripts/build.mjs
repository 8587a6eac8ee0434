/** Builds `dist/`: one split bundle, each command in a chunk of its own, loaded when it is needed. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

// conf validates with ajv only when it is given a schema, and we give none: leaving ajv out halves its start-up.
const withoutAjv = {
  name: "without-ajv",
  setup(bundler) {
    bundler.onResolve({ filter: /^ajv(-formats)?(\/.*)?$/ }, ({ path }) => ({ path, namespace: "no-ajv" }));
    bundler.onLoad({ filter: /.*/, namespace: "no-ajv" }, () => ({
      contents:
        "export class Ajv2020 { constructor() { throw new Error('schemas are not supported') } }\nexport default Ajv2020",
    }));
  },
};

// undici loads Node's HTTP/2 whether it is wanted or not; we speak HTTP/1.1, and start faster without.
const withoutHttp2 = {
  name: "without-http2",
  setup(bundler) {
    bundler.onResolve({ filter: /^node:http2$/ }, ({ path, importer }) =>
      /[\\/]undici[\\/]/.test(importer) ? { path, namespace: "no-http2" } : undefined,
    );
    bundler.onLoad({ filter: /.*/, namespace: "no-http2" }, () => ({
      contents: "module.exports = { constants: {} }",
    }));
  },
};

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
  keepNames: true,
  external: ["libsql"],
  plugins: [withoutAjv, withoutHttp2],
  // Bundled CommonJS packages ask for Node's own modules through `require`.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  logLevel: "warning",
});

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
