/** All commands, as the program builds them. */
import { PassThrough } from "node:stream";
import { listLeaves, toWords } from "../../src/commands/help/tree.ts";
import { Context } from "../../src/context.ts";
import { createTree } from "../../src/program.ts";

/** The tree with all its groups loaded. */
export async function loadTree() {
  const stream = new PassThrough().resume();
  const streams = { stdin: stream, stdout: stream, stderr: stream, env: {} };
  const tree = createTree(new Context(streams as never, new AbortController().signal), async () => 0);
  await tree.loadAll();
  return tree.root;
}

/** Every command that is no group, with the words after `ecm` that call it. */
export async function loadLeaves() {
  return listLeaves(await loadTree()).map((command) => ({ command, path: toWords(command).join(" ") }));
}
