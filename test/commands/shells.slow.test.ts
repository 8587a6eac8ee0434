/**
 * How three real shells take what is offered.
 */
import { spawnSync } from "node:child_process";
import { describe, expect } from "vitest";
import { ecmWith, temporaryFolder } from "../support/ecm.ts";
import { askBash, askFish, inShell, lists, readScreen, typeInto } from "./shells.ts";

/** What is typed, `⇥` the tab key, and the words that come of it. */
const typing: [typed: string, words: string[]][] = [
  ["lists sync Newsl⇥", ["lists", "sync", "Newsletter"]],
  ["lists sync news⇥", ["lists", "sync", "Newsletter"]],
  ["lists sync Spring\\ fa⇥", ["lists", "sync", "Spring fair"]],
  ['lists sync "Spring fa⇥', ["lists", "sync", "Spring fair"]],
  ["lists sync 'Spring fl⇥", ["lists", "sync", "Spring fling"]],
  ["import --list=Newsl⇥", ["import", "--list=Newsletter"]],
  ['import --list="Spring fa⇥', ["import", "--list=Spring fair"]],
  ["import --list Cos⇥", ["import", "--list", "Cost $5 & more!"]],
  ["import --list 'Cos⇥", ["import", "--list", "Cost $5 & more!"]],
  ["import --list It⇥", ["import", "--list", `It's "quoted"`]],
  ["import --list 'It⇥", ["import", "--list", `It's "quoted"`]],
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
  ["-o nd⇥", ["-o", "ndjson"]],
  ["contact search --coun⇥", ["contact", "search", "--count"]],
  ["import -- peo⇥", ["import", "--", "people.csv"]],
  ["import --mapping=peo⇥", ["import", "--mapping=people.csv"]],
  ["contact get peo⇥", ["contact", "get", "peo"]],
  ["frobnicate peo⇥", ["frobnicate", "peo"]],
];
const lines = typing.map(([typed]) => `ecm ${typed.replace("⇥", "\t")}`);
const expected = typing.map(([, words]) => words.map((word) => `[${word}]`).join(""));

describe("completions in real shells", () => {
  for (const shell of ["bash", "zsh"]) {
    const { missingNote, it } = inShell(shell);
    it(`take names with blanks, quotes, signs and Japanese in ${shell}, and quote them right${missingNote}`, async () => {
      const { env, folder, run } = await readScreen();
      const more = `ecm runs show ${run.slice(0, -1)}\t`;
      const words = await typeInto(shell, [...lines, more], folder, env);
      expect(words).toEqual([...expected, `[runs][show][${run}]`]);
    });
  }

  const fish = inShell("fish");
  fish.it(`offer the same in fish, which quotes by itself${fish.missingNote}`, async () => {
    const { env, folder } = await readScreen();
    const offered = await askFish(
      lines.map((line) => line.replace(/\t.*/, "")),
      folder,
      env,
    );
    const whole = typing.map(([typed, words]) =>
      /peo⇥/.test(typed) && words.at(-1) === "peo" ? [] : [words.at(-1)!.replace(/=9$/, "=")],
    );
    expect(offered).toEqual(whole);
  });

  const bash = inShell("bash");
  bash.it(`answer bash as it cuts words, with and without a value begun${bash.missingNote}`, async () => {
    const { env, folder } = await readScreen();
    const ask = (...words: string[]) => askBash(["ecm", ...words], folder, env);
    expect(await ask("lists", "sync", "Spr")).toEqual(["Spring\\ fair", "Spring\\ fling"]);
    expect(await ask("import", "--list", "=", "Spr")).toEqual(["Spring\\ fair", "Spring\\ fling"]);
    expect(await ask("import", "--list", "=")).toHaveLength(lists.length);
    expect(await ask("import", "--mode", "")).toEqual(["upsert", "create", "update"]);
    expect(await ask("contact", "get", "ada", "@", "example.com", "--ou")).toEqual([
      "--output-file",
      "--output",
    ]);
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
