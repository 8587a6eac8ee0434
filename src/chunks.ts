/** The files of the built program. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const requiredFile = /\brequire\(["'`]\.\/([^"'`]+\.cjs)["'`]\)/g;

/**
 * Loads every file of the built program, so that replacing the installed package cannot break a command that
 * goes on for hours and needs a part late. Those are the files that the loaded ones name, and that these
 * name: others beside them may be of an earlier build. Does nothing in the sources, where no file is
 * CommonJS.
 */
export function loadAllChunks(): void {
  const folder = import.meta.dirname;
  const load = createRequire(import.meta.url);
  const files = new Set(
    Object.keys(load.cache).filter((file) => dirname(file) === folder && file.endsWith(".cjs")),
  );
  // A set goes on to what is added to it meanwhile.
  for (const file of files) {
    for (const [, name = ""] of readFileSync(file, "utf8").matchAll(requiredFile))
      files.add(join(folder, name));
    load(file);
  }
}
