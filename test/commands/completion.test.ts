/** Completions: what is offered, and the installation. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, manyRows, startSandbox, startService } from "../kit.ts";
import { type Ecm, ecmWith, ends, refused, temporaryFolder, temporaryHome } from "../support/ecm.ts";

/** What is offered for the last of these words. */
async function candidates(ecm: Ecm, typed: string[], env?: Record<string, string>): Promise<string[]> {
  const { stdout } = await ecm(["__complete", "fish", "--", ...typed], { env });
  return [...stdout.matchAll(/^([^\t\n]*).*\n/gm)].map(([, name]) => name!);
}

describe("what is offered", () => {
  it("is known without the network: nothing is sent, and nothing is waited for", async () => {
    const { ecm, server } = await startService(() => undefined);
    const commands = await candidates(ecm, ["lists", ""]);
    expect(commands).toEqual(expect.arrayContaining(["list", "create", "sync"]));
    expect(await candidates(ecm, ["import", "--mode", "u"])).toEqual(["upsert", "update"]);
    const ask = (...typed: string[]) => ecm(["__complete", "fish", "--", ...typed]);
    expect(await ask("lists", "sync", "")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await ask("import", "")).toEqual({ code: 1, stdout: "", stderr: "" });
    expect(server.requests).toEqual([]);
  });

  it("never fails: without a profile, with a broken one, and whatever the words are", async () => {
    const home = await temporaryHome();
    const ask = (...typed: string[]) => ecmWith(home)(["__complete", "bash", "--", ...typed]);
    const quiet = { code: 0, stdout: "", stderr: "" };
    const typedLine = ["--profile", "nobody", "import", "--list", ""];
    for (const typed of [["lists", "sync", ""], ["\u0000"], ["no", "such", ""], typedLine])
      expect(await ask(...typed)).toEqual(quiet);
    await ecmWith(home)("auth use sandbox");
    await writeFile(join(home.ECM_CONFIG_DIR!, "profiles.json"), "{broken");
    expect(await ask("lists", "sync", "")).toEqual(quiet);
  });

  it("is of the account that the words mean", async () => {
    const { ecm, env } = await startSandbox();
    await ecm("lists create Here");
    const { ECM_BASE_URL: _url, ECM_API_KEY: _key, ...home } = env;
    const alone = ecmWith(home);
    await alone("--profile sandbox lists create There");
    expect(await candidates(ecm, ["lists", "sync", ""])).toEqual(["Here"]);
    expect(await candidates(alone, ["--profile", "sandbox", "lists", "sync", ""])).toEqual(["There"]);
    expect(await candidates(alone, ["--profile=sandbox", "export", "--list", ""])).toEqual(["There"]);
    expect(await candidates(alone, ["lists", "sync", ""])).toEqual([]);
  });

  it("knows lists, tags and fields from the moment they are made, and forgets what is gone", async () => {
    const { ecm } = await startSandbox();
    const offered = (...typed: string[]) => candidates(ecm, [...typed, ""]);
    await ecm("lists create One");
    await ecm(`import ${await inputFile(manyRows(1))} --list Two --tag vip --create-missing`);
    expect(await offered("lists", "sync")).toEqual(["One", "Two"]);
    expect(await offered("export", "--tag")).toEqual(["vip"]);
    await ecm("structure tag rename vip gold");
    await ecm("structure field add 'Shoe size'");
    expect(await offered("structure", "tag", "remove")).toEqual(["gold"]);
    expect(await offered("contact", "create", "--set")).toEqual(["First Name=", "Last Name=", "Shoe size="]);
    await ecm("structure tag remove gold --yes");
    expect(await offered("structure", "tag", "remove")).toEqual([]);
    expect(await offered("--structure")).toEqual(["Default"]);
  });

  it("knows all lists that were just listed; a page of some of them is not taken for all", async () => {
    const { ecm } = await startSandbox({ contents: { lists: ["One", "Two"] } });
    const offered = async (flags: string) => {
      const env = { ECM_CACHE_DIR: await temporaryFolder() };
      await ecm(`lists list ${flags}`, { env });
      return candidates(ecm, ["lists", "sync", ""], env);
    };
    for (const whole of ["", "--all", "--size 2"]) expect(await offered(whole)).toEqual(["One", "Two"]);
    for (const page of [1, 2, 3]) expect(await offered(`--size 1 --page ${page}`)).toEqual([]);
  });

  it("leaves out names that could forge a line", async () => {
    const lists = ["plain", "two\nlines", "a\ttab", "\u001b[31mred"];
    const { ecm } = await startSandbox({ contents: { lists } });
    await ecm("lists list");
    expect((await ecm("__complete fish -- lists sync ''")).stdout).toBe("plain\n");
  });
});

const bashStartupFile = process.platform === "darwin" ? ".bash_profile" : ".bashrc";

describe("ecm completion --install", () => {
  it.each([
    ["bash", ".local/share/bash-completion/completions/ecm", bashStartupFile],
    ["zsh", ".local/share/zsh/site-functions/_ecm", ".zshrc"],
    ["fish", ".config/fish/completions/ecm.fish", undefined],
  ])("puts the script in its place for %s, once, and keeps what is there", async (shell, file, startup) => {
    const home = await temporaryFolder();
    const ecm = ecmWith({ HOME: home });
    if (startup) await writeFile(join(home, startup), "alias l=ls");
    const install = () => ecm(["completion", shell, "--install"]);
    await ends(install(), 0, `wrote the script: ${join(home, file)}\n`);
    expect(await readFile(join(home, file), "utf8")).toBe((await ecm(["completion", shell])).stdout);
    const text = startup && (await readFile(join(home, startup), "utf8"));
    if (startup) expect(text).toMatch(/^alias l=ls\n# completions of ecm\n.*\/_?ecm.*\n$/);

    expect((await install()).stderr).toBe("Unchanged: it is installed already\n");
    if (startup) expect(await readFile(join(home, startup), "utf8")).toBe(text);
  });

  it.each([
    ["powershell", "whose profile only PowerShell knows", "$PROFILE"],
    ["fish", "whose folder cannot be written", "fish/completions"],
  ])("refuses %s, %s, and says what to do", async (shell, _why, named) => {
    const home = await temporaryFolder();
    await writeFile(join(home, ".config"), "a file where the folder should be");
    await refused(ecmWith({ HOME: home })(["completion", shell, "--install"]), 2, named, "\nhint: ");
  });

  it.each([
    ["bash", "HOME", "here"],
    ["bash", "HOME", ""],
    ["bash", "XDG_DATA_HOME", "here"],
    ["bash", "BASH_COMPLETION_USER_DIR", "here"],
    ["zsh", "ZDOTDIR", "here"],
    ["fish", "XDG_CONFIG_HOME", "here"],
  ])("refuses for %s a place below the current folder: %s=%j", async (shell, variable, folder) => {
    const ecm = ecmWith({ HOME: await temporaryFolder(), [variable]: folder });
    await refused(ecm(`completion ${shell} --install`), 2, "HOME", "\nhint: ");
  });
});
