/** Completions: what is offered, how three real shells take it, and the installation. */
import { spawnSync } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { askBash, askFish, makeWitness, missingFor, typeInto } from "./shells.ts";

const lists = [
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
async function seen() {
  const sandbox = await startSandbox();
  const { ecm } = sandbox;
  const folder = await temporaryFolder();
  for (const name of lists) await ecm(["lists", "create", name]);
  await ecm(["structure", "tag", "add", "VIP gold", 'say "hi"']);
  await ecm(["structure", "field", "add", "Shoe size"]);
  const file = join(folder, "people.csv");
  await writeFile(file, "Email\nada@example.com\n");
  const { stdout } = await ecm(["import", file, "--json"]);
  await makeWitness(folder);
  return { ...sandbox, folder, run: JSON.parse(stdout).run as string };
}

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
  ["import --map=Vorname=Shoe⇥", ["import", "--map=Vorname=Shoe size"]],
  ["-o nd⇥", ["-o", "ndjson"]],
  ["contact search --coun⇥", ["contact", "search", "--count"]],
  ["import -- peo⇥", ["import", "--", "people.csv"]],
  ["import --mapping=peo⇥", ["import", "--mapping=people.csv"]],
  ["contact get peo⇥", ["contact", "get", "peo"]],
  ["frobnicate peo⇥", ["frobnicate", "peo"]],
];
const lines = typing.map(([typed]) => `ecm ${typed.replace("⇥", "\t")}`);
const expected = typing.map(([, words]) => words.map((word) => `[${word}]`).join(""));

/** A shell that is not here is said so in the test's name. */
const inShell = (shell: string) => {
  const missing = missingFor(shell);
  const told = missing ? ` (not tested: there is no ${missing} here)` : "";
  return { told, it: it.skipIf(missing !== undefined) };
};

describe("completions in real shells", () => {
  for (const shell of ["bash", "zsh"]) {
    const { told, it } = inShell(shell);
    it(`take names with blanks, quotes, signs and Japanese in ${shell}, and quote them right${told}`, async () => {
      const { env, folder, run } = await seen();
      const more = `ecm runs show ${run.slice(0, -1)}\t`;
      const words = await typeInto(shell, [...lines, more], folder, env);
      expect(words).toEqual([...expected, `[runs][show][${run}]`]);
    });
  }

  const fish = inShell("fish");
  fish.it(`offer the same in fish, which quotes by itself${fish.told}`, async () => {
    const { env, folder } = await seen();
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
  bash.it(`answer bash as it cuts words, with and without a value begun${bash.told}`, async () => {
    const { env, folder } = await seen();
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

describe("what is offered", () => {
  const words = (stdout: string) =>
    stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split("\t")[0]);

  it("is known without the network: nothing is sent, and nothing is waited for", async () => {
    const server = await startHttpServer(() => undefined);
    const env = { ...(await temporaryHome()), ECM_BASE_URL: server.baseUrl, ECM_API_KEY: "short-key" };
    const ask = (...typed: string[]) => ecmWith(env)(["__complete", "fish", "--", ...typed]);
    expect(words((await ask("lists", "")).stdout)).toEqual(
      expect.arrayContaining(["list", "create", "sync"]),
    );
    expect(await ask("lists", "sync", "")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await ask("import", "")).toEqual({ code: 1, stdout: "", stderr: "" });
    expect(server.seen).toEqual([]);
  });

  it("never fails: without a profile, with a broken one, and whatever the words are", async () => {
    const home = await temporaryHome();
    const quiet = { code: 0, stdout: "", stderr: "" };
    const named = ["--profile", "nobody", "import", "--list", ""];
    for (const typed of [["lists", "sync", ""], ["\u0000"], ["no", "such", ""], named])
      expect(await ecmWith(home)(["__complete", "bash", "--", ...typed])).toEqual(quiet);
    await ecmWith(home)(["auth", "use", "sandbox"]);
    await writeFile(join(home.ECM_CONFIG_DIR!, "profiles.json"), "{broken");
    expect(await ecmWith(home)(["__complete", "bash", "--", "lists", "sync", ""])).toEqual(quiet);
  });

  it("is of the account that the words mean", async () => {
    const { ecm, env } = await startSandbox();
    await ecm(["lists", "create", "Here"]);
    const { ECM_BASE_URL: _url, ECM_API_KEY: _key, ...home } = env;
    const ask = (...typed: string[]) => ecmWith(home)(["__complete", "fish", "--", ...typed]);
    await ecmWith(home)(["--profile", "sandbox", "lists", "create", "There"]);
    expect((await ecm(["__complete", "fish", "--", "lists", "sync", ""])).stdout).toBe("Here\n");
    expect((await ask("--profile", "sandbox", "lists", "sync", "")).stdout).toBe("There\n");
    expect((await ask("--profile=sandbox", "export", "--list", "")).stdout).toBe("There\n");
    expect((await ask("lists", "sync", "")).stdout).toBe("");
  });

  it("knows lists, tags and fields from the moment they are made, and forgets what is gone", async () => {
    const { ecm } = await startSandbox();
    const offered = async (...typed: string[]) =>
      words((await ecm(["__complete", "fish", "--", ...typed, ""])).stdout);
    const folder = await temporaryFolder();
    const file = join(folder, "people.csv");
    await writeFile(file, "Email\nada@example.com\n");
    await ecm(["lists", "create", "One"]);
    await ecm(["import", file, "--list", "Two", "--tag", "vip", "--create-missing"]);
    expect(await offered("lists", "sync")).toEqual(["One", "Two"]);
    expect(await offered("export", "--tag")).toEqual(["vip"]);
    await ecm(["structure", "tag", "rename", "vip", "gold"]);
    await ecm(["structure", "field", "add", "Shoe size"]);
    expect(await offered("structure", "tag", "remove")).toEqual(["gold"]);
    expect(await offered("contact", "create", "--set")).toEqual(["First Name=", "Last Name=", "Shoe size="]);
    await ecm(["structure", "tag", "remove", "gold", "--yes"]);
    expect(await offered("structure", "tag", "remove")).toEqual([]);
    expect(await offered("--structure")).toEqual(["Default"]);
  });

  it("leaves out names that could forge a line", async () => {
    const { ecm } = await startSandbox();
    for (const name of ["plain", "two\nlines", "a\ttab", "\u001b[31mred"])
      await ecm(["lists", "create", name]);
    const { stdout } = await ecm(["__complete", "fish", "--", "lists", "sync", ""]);
    expect(stdout).toBe("plain\n");
  });
});

const startupOfBash = process.platform === "darwin" ? ".bash_profile" : ".bashrc";

describe("ecm completion --install", () => {
  it.each([
    ["bash", ".local/share/bash-completion/completions/ecm", startupOfBash],
    ["zsh", ".local/share/zsh/site-functions/_ecm", ".zshrc"],
    ["fish", ".config/fish/completions/ecm.fish", undefined],
  ])(
    "puts the script in its place for %s, once, and keeps what stands there",
    async (shell, file, startup) => {
      const home = await temporaryFolder();
      const ecm = ecmWith({ HOME: home });
      if (startup) await writeFile(join(home, startup), "alias l=ls");
      const planned = await ecm(["completion", shell, "--install", "--dry-run"]);
      expect(planned).toMatchObject({ code: 0, stdout: "" });
      expect(planned.stderr).toContain(`would write the script: ${join(home, file)}\n`);
      await expect(stat(join(home, file))).rejects.toThrow("ENOENT");

      const first = await ecm(["completion", shell, "--install"]);
      expect(first.stderr).toContain(`wrote the script: ${join(home, file)}\n`);
      expect(await readFile(join(home, file), "utf8")).toBe((await ecm(["completion", shell])).stdout);
      const text = startup && (await readFile(join(home, startup), "utf8"));
      if (startup) expect(text).toMatch(/^alias l=ls\n# completions of ecm\n.*\/_?ecm.*\n$/);

      const second = await ecm(["completion", shell, "--install", "--json"]);
      expect(JSON.parse(second.stdout)).toMatchObject({ shell, file: join(home, file), written: [] });
      if (startup) expect(await readFile(join(home, startup), "utf8")).toBe(text);
    },
  );

  for (const shell of ["bash", "zsh"]) {
    const { told, it } = inShell(shell);
    it(`is at work in the next ${shell}${told}`, async () => {
      const home = await temporaryFolder();
      await ecmWith({ HOME: home })(["completion", shell, "--install"]);
      const asks = shell === "bash" ? "complete -p ecm" : "print $_comps[ecm]";
      const env = { PATH: process.env.PATH, HOME: home };
      const { stdout } = spawnSync(shell, ["-i", "-c", asks], { env, encoding: "utf8" });
      expect(stdout.trim()).toBe(shell === "bash" ? "complete -F _ecm ecm" : "_ecm");
    });
  }

  it("leaves PowerShell's profile to PowerShell, and says what belongs there", async () => {
    const result = await ecmWith({ HOME: await temporaryFolder() })([
      "completion",
      "powershell",
      "--install",
    ]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain("$PROFILE");
  });
});
