/**
 * Real shells on a real terminal: what is typed, the tab key included, and which words `ecm` gets in the end.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { it } from "vitest";
import { temporaryFolder, waitForResult } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Undefined where the shell is there, and a terminal for it; else what is missing. */
function missingFor(shell: string): string | undefined {
  return [shell, "script"].find((tool) => spawnSync(tool, ["--version"]).error !== undefined);
}

/** Puts an `ecm` into `folder/bin` that completes as ever, and otherwise writes its words down. */
async function installArgumentRecorder(folder: string): Promise<void> {
  const program = `"${process.execPath}" "${join(root, "bin/ecm.js")}"`;
  const file = join(folder, "bin/ecm");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(
    file,
    `#!/bin/sh
if [ "$1" = __complete ]; then exec ${program} "$@"; fi
for word; do printf '[%s]' "$word"; done >>"${folder}/words"
echo >>"${folder}/words"
`,
    { mode: 0o755 },
  );
}

const shells: Record<string, { command: string; setup: string }> = {
  bash: {
    command: "bash --norc --noprofile -i",
    setup: `set +H; bind 'set enable-bracketed-paste off'; source ${root}completions/ecm.bash`,
  },
  zsh: {
    command: "zsh -f -i",
    setup: `autoload -Uz compinit; compinit -u -D; unsetopt automenu listbeep; source ${root}completions/_ecm`,
  },
};

/** Types the lines into the shell, one after the other, and returns the words that came of each. */
export async function typeInto(
  shell: string,
  lines: string[],
  folder: string,
  env: Record<string, string>,
): Promise<string[]> {
  const { command, setup } = shells[shell]!;
  await writeFile(join(folder, "words"), "");
  const child = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    env: { ...environment(folder, env), TERM: "dumb", COLUMNS: "200" },
  });
  const ended = waitForResult(child);
  child.stdin.write(`${[setup, ...lines, "exit"].join("\n")}\n`);
  await ended;
  return (await readFile(join(folder, "words"), "utf8")).split("\n").slice(0, -1);
}

/** What fish offers for each line. */
export async function askFish(lines: string[], folder: string, env: Record<string, string>) {
  const script = `source ${root}completions/ecm.fish
for line in $argv
    complete -C $line | string replace -r '\\t.*' ''
    echo ---
end`;
  const child = spawn("fish", ["--no-config", "-c", script, "--", ...lines], {
    cwd: folder,
    env: environment(folder, env),
  });
  const { stdout } = await waitForResult(child);
  return stdout
    .split("---\n")
    .slice(0, -1)
    .map((part) => part.split("\n").slice(0, -1));
}

/** Calls the function of the bash script as bash does. @param words as bash cuts them */
export async function askBash(
  words: string[],
  folder: string,
  env: Record<string, string>,
): Promise<string[]> {
  const script = `source ${root}completions/ecm.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ecm; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = spawn("bash", ["--norc", "-c", script, "bash", ...words], {
    cwd: folder,
    env: environment(folder, env),
  });
  const { stdout } = await waitForResult(child);
  return stdout.split("\n").filter((line) => line !== "");
}

function environment(folder: string, env: Record<string, string>): Record<string, string> {
  const path = `${join(folder, "bin")}:${process.env.PATH}`;
  return { ...env, PATH: path, HOME: folder, LC_ALL: "C.UTF-8" };
}

/** Names that have to be quoted. */
export const lists = [
  "Newsletter",
  "Spring fair",
  "Spring fling",
  "Cost $5 & more!",
  `It's "quoted"`,
  "東京のお客様",
  "a,b;c",
  "time 12:30",
  "x=y",
  "back\\slash",
];

/** An account whose names were seen by earlier commands, and a folder with a file. */
export async function readScreen() {
  const tags = ["VIP gold", 'say "hi"'];
  const sandbox = await startSandbox({ contents: { lists, tags, fields: ["Shoe size"] } });
  const { ecm } = sandbox;
  const folder = await temporaryFolder();
  await ecm(["lists", "list"]);
  const file = join(folder, "people.csv");
  await writeFile(file, "Email\nada@example.com\n");
  const { stdout } = await ecm(["import", file, "--json"]);
  await installArgumentRecorder(folder);
  return { ...sandbox, folder, run: JSON.parse(stdout).run as string };
}

/** A shell that is not here is said so in the test's name. */
export const inShell = (shell: string) => {
  const missing = missingFor(shell);
  const missingNote = missing ? ` (not tested: there is no ${missing} here)` : "";
  return { missingNote, it: it.skipIf(missing !== undefined) };
};
