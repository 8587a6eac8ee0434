/**
 * The digests of a run's plan whose lines were changed on purpose: each is that of what is left before it.
 */
import { createHash } from "node:crypto";

/**
 * @returns takes each line of the file in turn, as latin1 and without its break, and gives it back with its
 * digest
 */
export function createPlanSealer(): (line: string) => string {
  const hash = createHash("sha256");
  return (line) => {
    const isMark = /^\{"(?:block|end)":/.test(line);
    // No text of a line holds this: its quotes would be escaped.
    const sealed = isMark ? line.replace(digest, `"digest":"sha256:${hash.copy().digest("hex")}"`) : line;
    hash.update(`${sealed}\n`, "latin1");
    return sealed;
  };
}

const digest = /"digest":"sha256:[0-9a-f]{64}"/;
