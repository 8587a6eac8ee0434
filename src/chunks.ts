/** The files of the built program. */

/** Replaced by the build; empty in the sources, where there is one file for each module. */
const names = "the build puts the names of its files here";

/**
 * Loads every file of the built program, so that replacing the installed package cannot break a command that goes on for
 * hours and needs a part late. Does nothing in the sources. Nothing of ours has an effect when it is loaded.
 */
export function loadAllChunks(): void {
  for (const name of names.split(" ").filter((each) => each.startsWith("./"))) require(name);
}
