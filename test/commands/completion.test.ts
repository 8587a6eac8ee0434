/** Completions: what is offered, and the installation. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

describe("what is offered", () => {
  const parseCandidates = (stdout: string) =>
    stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => line.split("\t")[0]);

  it("is known without the network: nothing is sent, and nothing is waited for", async () => {
    const server = await startHttpServer(() => undefined);
    const env = { ...(await temporaryHome()), ECM_BASE_URL: server.baseUrl, ECM_API_KEY: "short-key" };
    const ask = (...typed: string[]) => ecmWith(env)(["__complete", "fish", "--", ...typed]);
    expect(parseCandidates((await ask("lists", "")).stdout)).toEqual(
      expect.arrayContaining(["list", "create", "sync"]),
    );
    expect(parseCandidates((await ask("import", "--mode", "u")).stdout)).toEqual(["upsert", "update"]);
    expect(await ask("lists", "sync", "")).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(await ask("import", "")).toEqual({ code: 1, stdout: "", stderr: "" });
    expect(server.requests).toEqual([]);
  });

  it("never fails: without a profile, with a broken one, and whatever the words are", async () => {
    const home = await temporaryHome();
    const quiet = { code: 0, stdout: "", stderr: "" };
    const typedLine = ["--profile", "nobody", "import", "--list", ""];
    for (const typed of [["lists", "sync", ""], ["\u0000"], ["no", "such", ""], typedLine])
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
      parseCandidates((await ecm(["__complete", "fish", "--", ...typed, ""])).stdout);
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

  it("knows all lists that were just listed; a page of some of them is not taken for all", async () => {
    const { ecm } = await startSandbox({ contents: { lists: ["One", "Two"] } });
    const offered = async (...listing: string[]) => {
      const env = { ECM_CACHE_DIR: await temporaryFolder() };
      await ecm(["lists", "list", ...listing], { env });
      return parseCandidates((await ecm(["__complete", "fish", "--", "lists", "sync", ""], { env })).stdout);
    };
    for (const whole of [[], ["--all"], ["--size", "2"]])
      expect(await offered(...whole)).toEqual(["One", "Two"]);
    for (const part of ["1", "2", "3"]) expect(await offered("--size", "1", "--page", part)).toEqual([]);
  });

  it("leaves out names that could forge a line", async () => {
    const { ecm } = await startSandbox();
    for (const name of ["plain", "two\nlines", "a\ttab", "\u001b[31mred"])
      await ecm(["lists", "create", name]);
    const { stdout } = await ecm(["__complete", "fish", "--", "lists", "sync", ""]);
    expect(stdout).toBe("plain\n");
  });
});

const bashStartupFile = process.platform === "darwin" ? ".bash_profile" : ".bashrc";

describe("ecm completion --install", () => {
  it.each([
    ["bash", ".local/share/bash-completion/completions/ecm", bashStartupFile],
    ["zsh", ".local/share/zsh/site-functions/_ecm", ".zshrc"],
    ["fish", ".config/fish/completions/ecm.fish", undefined],
  ])(
    "puts the script in its place for %s, once, and keeps what stands there",
    async (shell, file, startup) => {
      const home = await temporaryFolder();
      const ecm = ecmWith({ HOME: home });
      if (startup) await writeFile(join(home, startup), "alias l=ls");
      const first = await ecm(["completion", shell, "--install"]);
      expect(first.stderr).toContain(`wrote the script: ${join(home, file)}\n`);
      expect(await readFile(join(home, file), "utf8")).toBe((await ecm(["completion", shell])).stdout);
      const text = startup && (await readFile(join(home, startup), "utf8"));
      if (startup) expect(text).toMatch(/^alias l=ls\n# completions of ecm\n.*\/_?ecm.*\n$/);

      const second = await ecm(["completion", shell, "--install"]);
      expect(second.stderr).toBe("Unchanged: it is installed already\n");
      if (startup) expect(await readFile(join(home, startup), "utf8")).toBe(text);
    },
  );

  it.each([
    ["powershell", "whose profile only PowerShell knows", "$PROFILE"],
    ["fish", "whose folder cannot be written", "fish/completions"],
  ])("refuses %s, %s, and says what to do", async (shell, _why, named) => {
    const home = await temporaryFolder();
    await writeFile(join(home, ".config"), "a file where the folder should be");
    const result = await ecmWith({ HOME: home })(["completion", shell, "--install"]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(named);
    expect(result.stderr).toContain("\nhint: ");
  });
});
