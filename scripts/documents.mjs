/** What the build and the generated pages take from the command tree: the source is bundled and run here. */
import { mkdtemp, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { textFiles } from "./text-files.mjs";

const modules = {
  context: "src/context.ts",
  program: "src/program.ts",
  tree: "src/commands/help/tree.ts",
  describe: "src/commands/help/help-text.ts",
  manual: "src/commands/help/manual-pages.ts",
  behavior: "src/service/behavior.ts",
};

/** @returns the flags of every command, each command as `ecm commands` describes it, the pages of the manual by name, and the
 * points that are open about the service */
export async function readDocuments() {
  const folder = await mkdtemp(resolve("node_modules/.ecm-documents-"));
  try {
    const bundle = await rolldown({
      input: modules,
      preserveEntrySignatures: "strict",
      platform: "node",
      external: ["libsql"],
      plugins: [textFiles],
    });
    await bundle.write({
      dir: folder,
      format: "cjs",
      entryFileNames: "[name].cjs",
      chunkFileNames: "[hash].cjs",
    });
    await bundle.close();
    const load = async (name) => (await import(pathToFileURL(join(folder, `${name}.cjs`)))).default;
    const { Context } = await load("context");
    const { createTree } = await load("program");
    const { listLeaves } = await load("tree");
    const { describeCommandJson, describeFlags } = await load("describe");
    const { writeManual } = await load("manual");
    const { openPoints } = await load("behavior");
    const stream = new PassThrough();
    const streams = { stdin: stream, stdout: stream, stderr: stream, env: {} };
    const tree = createTree(new Context(streams, new AbortController().signal));
    await tree.loadAll();
    return {
      globalFlags: describeFlags(tree.root),
      commands: listLeaves(tree.root).map(describeCommandJson),
      manual: writeManual(tree.root),
      openPoints: Object.values(openPoints),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
