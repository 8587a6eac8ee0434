/** The built program in a pseudo-terminal, with someone who types once the words are on the screen. */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";

type NodePty = typeof import("@lydell/node-pty");

export interface PtySession {
  /**
   * Waits for words that were not waited for yet, then types. Resolves
   * at once where they are on the screen already.
   * @throws Error with all that was on the screen, as soon as the program has ended without them
   */
  answer(words: string, keys: string): Promise<void>;
  /** Waits for the program's end. */
  ended: Promise<{ code: number; screen: string }>;
}

const program = fileURLToPath(new URL("../../bin/ecm.js", import.meta.url));

/** Why there is no pseudo-terminal here; undefined where there is one. */
export const whyNoPty: string | undefined = (() => {
  try {
    loadPty();
    return undefined;
  } catch (error) {
    return `no pseudo-terminal on this platform: ${(error as Error).message}`;
  }
})();

/** Its binaries come with the package; there is none for every platform. */
function loadPty(): NodePty {
  return createRequire(import.meta.url)("@lydell/node-pty") as NodePty;
}

/** Starts the program; it is killed when the test ends. */
export function openPty(
  args: string[],
  env: Record<string, string>,
  size: { columns?: number; rows?: number } = {},
): PtySession {
  const child = loadPty().spawn(process.execPath, [program, ...args], {
    name: "xterm-256color",
    cols: size.columns ?? 100,
    rows: size.rows ?? 40,
    env: { PATH: process.env.PATH, TERM: "xterm-256color", TZ: "UTC", NO_COLOR: "1", ...env },
  });
  let screen = "";
  let readLength = 0;
  let exit: { exitCode: number } | undefined;
  let look: () => void = () => undefined;
  child.onData((text) => {
    screen += text;
    look();
  });
  const ended = new Promise<{ code: number; screen: string }>((resolve) => {
    child.onExit((how) => {
      exit = how;
      look();
      resolve({ code: how.exitCode, screen: plain() });
    });
  });
  onTestFinished(() => {
    if (!exit) child.kill("SIGKILL");
  });

  const plain = () => stripVTControlCharacters(screen);
  return {
    ended,
    answer: (words, keys) =>
      new Promise((resolve, reject) => {
        look = () => {
          const at = plain().indexOf(words, readLength);
          if (at !== -1) {
            look = () => undefined;
            readLength = at + words.length;
            child.write(keys);
            resolve();
          } else if (exit) {
            const missing = `never showed ${JSON.stringify(words)}`;
            reject(new Error(`ended with ${exit.exitCode}, ${missing}:\n${plain()}`));
          }
        };
        look();
      }),
  };
}
