/** Where the key is kept that the sandbox itself uses. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomicallySync } from "../../disk/atomic-file.ts";

export interface OwnKeyPlace {
  /** Whether it works or not; undefined: there is none yet. */
  read(): string | undefined;
  write(value: string): void;
}

/** In the folder, for all its processes. */
export function ownKeyInFolder(folder: string): OwnKeyPlace {
  const file = join(folder, "api-key");
  return { read: () => readIfThere(file), write: (value) => writeAtomicallySync(file, value) };
}

/** In this process alone. */
export function ownKeyInMemory(): OwnKeyPlace {
  let kept: string | undefined;
  return {
    read: () => kept,
    write: (value) => {
      kept = value;
    },
  };
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
