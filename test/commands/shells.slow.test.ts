/** How three real shells, on a real terminal, take what is offered: what is typed, and which words `ecm` gets. */
import { spawn, spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it as test } from "vitest";
import { ecmWith, inputFile, readJson, startSandbox, temporaryFolder, waitForResult } from "../kit.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Undefined where the shell is there, and a terminal for it; else what is missing. */
function missingFor(shell: string): string | undefined {
  return [shell, "script"].find((tool) => spawnSync(tool, ["--version"]).error !== undefined);
}

/** Puts an `ecm` into `folder/bin` that completes as ever, and otherwise writes its words down. */
async function installArgumentRecorder(folder: string): Promise<void> {
  const script = `#!/bin/sh
if [ "$1" = __complete ]; then exec "${process.execPath}" "${join(root, "bin/ecm.js")}" "$@"; fi
for word; do printf '[%s]' "$word"; done >>"${folder}/words"
echo >>"${folder}/words"
`;
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin/ecm"), script, { mode: 0o755 });
}

/** `inFolder` is how a shell is started there. */
type Screen = { folder: string; run: string; inFolder: { cwd: string; env: Record<string, string> } };

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
async function typeInto(shell: string, lines: string[], { folder, inFolder }: Screen): Promise<string[]> {
  const { command, setup } = shells[shell]!;
  await writeFile(join(folder, "words"), "");
  const env = { ...inFolder.env, TERM: "dumb", COLUMNS: "200" };
  const child = spawn("script", ["-qec", command, "/dev/null"], { ...inFolder, env });
  const ended = waitForResult(child);
  child.stdin.write(`${[setup, ...lines, "exit"].join("\n")}\n`);
  await ended;
  return (await readFile(join(folder, "words"), "utf8")).split("\n").slice(0, -1);
}

/** What fish offers for each line. */
async function askFish(lines: string[], { inFolder }: Screen) {
  const script = `source ${root}completions/ecm.fish
for line in $argv
    complete -C $line | string replace -r '\\t.*' ''
    echo ---
end`;
  const child = spawn("fish", ["--no-config", "-c", script, "--", ...lines], inFolder);
  const { stdout } = await waitForResult(child);
  const parts = stdout.split("---\n").slice(0, -1);
  return parts.map((part) => part.split("\n").slice(0, -1));
}

/** Calls the function of the bash script as bash does. @param words as bash cuts them */
async function askBash(words: string[], { inFolder }: Screen): Promise<string[]> {
  const script = `source ${root}completions/ecm.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ecm; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = spawn("bash", ["--norc", "-c", script, "bash", ...words], inFolder);
  const { stdout } = await waitForResult(child);
  return stdout.split("\n").filter((line) => line !== "");
}

/** Names that have to be quoted. */
const lists = [
  ...["Newsletter", "Spring fair", "Spring fling", "Cost $5 & more!", `It's "quoted"`, "東京のお客様"],
  ...["a,b;c", "time 12:30", "x=y", "back\\slash"],
];

/** An account whose names were seen by earlier commands, and a folder with a file. */
async function readScreen(): Promise<Screen> {
  const tags = ["VIP gold", 'say "hi"'];
  const { ecm, env } = await startSandbox({ contents: { lists, tags, fields: ["Shoe size"] } });
  await ecm("lists list");
  const file = await inputFile("Email\nada@example.com\n");
  const { run } = await readJson(ecm, `import ${file}`);
  const folder = dirname(file);
  await installArgumentRecorder(folder);
  const PATH = `${join(folder, "bin")}:${process.env.PATH}`;
  return { folder, run, inFolder: { cwd: folder, env: { ...env, PATH, HOME: folder, LC_ALL: "C.UTF-8" } } };
}

/** A shell that is not here is said so in the test's name. */
const inShell = (shell: string) => {
  const missing = missingFor(shell);
  const missingNote = missing ? ` (not tested: there is no ${missing} here)` : "";
  return { missingNote, it: test.skipIf(missing !== undefined) };
};

/** What is typed, `⇥` the tab key, and the words that come of it. */
const typing: [typed: string, words: string[]][] = [
  ["lists sync Newsl⇥", ["lists", "sync", "Newsletter"]],
  ["lists sync Spring\\ fa⇥", ["lists", "sync", "Spring fair"]],
  ['lists sync "Spring fa⇥', ["lists", "sync", "Spring fair"]],
  ["lists sync 'Spring fl⇥", ["lists", "sync", "Spring fling"]],
  ["import --list=Newsl⇥", ["import", "--list=Newsletter"]],
  ['import --list="Spring fa⇥', ["import", "--list=Spring fair"]],
  ["import --list Cos⇥", ["import", "--list", "Cost $5 & more!"]],
  ["import --list 'Cos⇥", ["import", "--list", "Cost $5 & more!"]],
  ["import --list It⇥", ["import", "--list", `It's "quoted"`]],
  ["import --list 東⇥", ["import", "--list", "東京のお客様"]],
  ["import --list=a,⇥", ["import", "--list=a,b;c"]],
  ["import --list time\\ 12:⇥", ["import", "--list", "time 12:30"]],
  ["import --list x=⇥", ["import", "--list", "x=y"]],
  ["import --list back⇥", ["import", "--list", "back\\slash"]],
  ["contact create --set Sho⇥9", ["contact", "create", "--set", "Shoe size=9"]],
  [
    "contact mutate ada@example.com --add-tag VI⇥",
    ["contact", "mutate", "ada@example.com", "--add-tag", "VIP gold"],
  ],
  ["contact search --coun⇥", ["contact", "search", "--count"]],
  ["import -- peo⇥", ["import", "--", "people.csv"]],
  ["import --mapping=peo⇥", ["import", "--mapping=people.csv"]],
  ["contact get peo⇥", ["contact", "get", "peo"]],
];
const lines = typing.map(([typed]) => `ecm ${typed.replace("⇥", "\t")}`);
const expected = typing.map(([, words]) => words.map((word) => `[${word}]`).join(""));

describe("completions in real shells", () => {
  for (const shell of ["bash", "zsh"]) {
    const { missingNote, it } = inShell(shell);
    it(`take names with blanks, quotes, signs and Japanese in ${shell}, and quote them right${missingNote}`, async () => {
      const screen = await readScreen();
      const more = `ecm runs show ${screen.run.slice(0, -1)}\t`;
      const words = await typeInto(shell, [...lines, more], screen);
      expect(words).toEqual([...expected, `[runs][show][${screen.run}]`]);
    });
  }

  const fish = inShell("fish");
  fish.it(`offer the same in fish, which quotes by itself${fish.missingNote}`, async () => {
    const begun = lines.map((line) => line.replace(/\t.*/, ""));
    const offered = await askFish(begun, await readScreen());
    const whole = typing.map(([typed, words]) =>
      /peo⇥/.test(typed) && words.at(-1) === "peo" ? [] : [words.at(-1)!.replace(/=9$/, "=")],
    );
    expect(offered).toEqual(whole);
  });

  const bash = inShell("bash");
  bash.it(`answer bash as it cuts words, with and without a value begun${bash.missingNote}`, async () => {
    const screen = await readScreen();
    const ask = (...words: string[]) => askBash(["ecm", ...words], screen);
    const spring = ["Spring\\ fair", "Spring\\ fling"];
    expect(await ask("import", "--list", "=")).toHaveLength(lists.length);
    expect(await ask("lists", "sync", "Spr")).toEqual(spring);
    expect(await ask("import", "--list", "=", "Spr")).toEqual(spring);
    expect(await ask("import", "--mode", "")).toEqual(["upsert", "create", "update"]);
    const cut = ["contact", "get", "ada", "@", "example.com", "--ou"];
    expect(await ask(...cut)).toEqual(["--output-file", "--output"]);
    expect(await ask("auth", "use", "")).toEqual(["sandbox"]);
    expect(await ask("lists", "sync", 'Spr"ing')).toEqual([]);
  });
});

for (const shell of ["bash", "zsh"]) {
  const { missingNote, it } = inShell(shell);
  it(`completion --install is at work in the next ${shell}${missingNote}`, async () => {
    const home = await temporaryFolder();
    await ecmWith({ HOME: home })(["completion", shell, "--install"]);
    const asks = shell === "bash" ? "complete -p ecm" : "print $_comps[ecm]";
    const env = { PATH: process.env.PATH, HOME: home };
    const { stdout } = spawnSync(shell, ["-i", "-c", asks], { env, encoding: "utf8" });
    expect(stdout.trim()).toBe(shell === "bash" ? "complete -F _ecm ecm" : "_ecm");
  });
}
