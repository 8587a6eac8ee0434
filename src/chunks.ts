/** The files of the built program. */
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";

/** Another way into the package: the embedded service for tests. */
const library = "sandbox.cjs";

/**
 * Loads every file of the built program, so that replacing the installed package cannot break a command that
 * goes on for hours and needs a part late. Does nothing in the sources, where no file is CommonJS.
 */
export function loadAllChunks(): void {
  const folder = import.meta.dirname;
  const load = createRequire(import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".cjs") && name !== library);
  // Asked for as the program itself asks: only then does Node answer later without looking at the disk.
  for (const name of names) load(`./${name}`);
}
