/** `--profiles`: one command for many accounts, and one result. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseProfiles } from "../../src/commands/shared/profiles/choose.ts";
import { NotFoundError } from "../../src/errors.ts";
import { createInterruption } from "../../src/run.ts";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

/** An agency: two accounts with a person in each, and one whose key is refused. */
async function startAgency() {
  const env = await temporaryHome();
  const ecm = ecmWith(env);
  const accounts = [await startSandbox(), await startSandbox()];
  const names = ["client-a", "client-b"];
  for (const [index, { baseUrl, apiKey }] of accounts.entries()) {
    const words = ["auth", "login", "--profile", names[index]!, "--base-url", baseUrl];
    await ecm([...words, "--api-key-stdin", "--no-verify"], { stdin: `${apiKey}\n` });
  }
  const count = async (profile: string) =>
    (await ecm(["-p", profile, "contact", "search", "--count"])).stdout;
  const refused = ["auth", "login", "--profile", "client-z", "--base-url", accounts[0]!.baseUrl];
  await ecm([...refused, "--api-key-stdin", "--no-verify"], { stdin: `ecm_us_${"x".repeat(43)}\n` });
  for (const profile of ["client-a", "client-b"]) {
    await ecm(["-p", profile, "contact", "create", "--key", "ada@example.com", "--set", "First Name=Ada"]);
  }
  await ecm(["-p", "client-b", "structure", "field", "add", "Town"]);
  return { ecm, env, count };
}

const lines = (text: string) => text.trimEnd().split("\n");

describe("--profiles", () => {
  it("shows the rows of all accounts under one header, and the worst exit code comes out", {
    tags: "slow",
  }, async () => {
    const { ecm } = await startAgency();
    const tsv = await ecm(["contact", "search", "--profiles", "client-*", "-o", "tsv"]);
    expect(tsv.code).toBe(4);
    const [header, ...rows] = lines(tsv.stdout).map((line) => line.split("\t"));
    expect(header?.[0]).toBe("profile");
    // A field of one account alone is empty for the others.
    expect(header).toContain("Town");
    expect(rows.map(([profile, key]) => [profile, key])).toEqual([
      ["client-a", "ada@example.com"],
      ["client-b", "ada@example.com"],
    ]);
    expect(tsv.stderr).toMatch(/^client-a: rate-limit: hour=\d+\/\d+ /m);
    expect(tsv.stderr).toMatch(/^client-z: error: /m);
    expect(tsv.stderr).toContain("2 of 3 profiles ended with exit 0; not: client-z (exit 4)");

    const answers = await ecm([
      "api",
      "GET",
      "/api/contact-structure",
      "--profiles",
      "client-a,client-b",
      "--json",
    ]);
    expect(JSON.parse(answers.stdout)).toMatchObject([
      { profile: "client-a", keyName: "Email" },
      { profile: "client-b", keyName: "Email" },
    ]);
    const written = [
      "api",
      "PUT",
      "/api/contact-structure/x",
      "--data",
      "-",
      "--profiles",
      "client-a,client-b",
    ];
    expect((await ecm(written, { stdin: "{}" })).code).toBe(2);

    const json = await ecm(["contact", "get", "ada@example.com", "--profiles", "client-?", "--json"]);
    expect(json.code).toBe(4);
    const found = JSON.parse(json.stdout) as Record<string, unknown>[];
    expect(found.map((each) => Object.keys(each)[0])).toEqual(["profile", "profile"]);
    expect(found).toMatchObject([
      { profile: "client-a", key: "ada@example.com" },
      { profile: "client-b", key: "ada@example.com" },
    ]);
    const failure = lines(json.stderr).find((line) => line.startsWith("{"))!;
    expect(JSON.parse(failure)).toMatchObject({ error: { profile: "client-z", status: 401, exitCode: 4 } });

    const picked = ["contact", "search", "--profiles", "client-b,client-a"];
    expect((await ecm([...picked, "-o", "csv", "--columns", "key,profile"])).stdout).toBe(
      "key,profile\nada@example.com,client-b\nada@example.com,client-a\n",
    );
    const ndjson = await ecm([...picked, "-o", "ndjson", "--columns", "key"]);
    expect(lines(ndjson.stdout)[0]).toBe('{"profile":"client-b","key":"ada@example.com"}');
    expect((await ecm([...picked, "--count", "--json"])).stdout).toContain('"result": 1');
  });

  it("erases a person in every account with one yes, and the receipt names the account that failed", {
    tags: "slow",
  }, async () => {
    const { ecm, count } = await startAgency();
    const words = ["contact", "erase", "ada@example.com", "--profiles", "client-*"];
    const unconfirmed = await ecm(words);
    expect(unconfirmed).toMatchObject({ code: 2, stdout: "" });
    expect(unconfirmed.stderr).toContain("--yes");
    expect([await count("client-a"), await count("client-b")]).toEqual(["1\n", "1\n"]);
    const { code, stdout } = await ecm([...words, "--yes", "--json"]);
    expect(code).toBe(4);
    const receipt = JSON.parse(stdout) as { profile: string; hash?: string }[];
    expect(receipt).toMatchObject([
      { profile: "client-a", contact: "deleted" },
      { profile: "client-b", contact: "deleted" },
      { profile: "client-z", error: { status: 401 } },
    ]);
    expect(stdout).not.toContain("ada@example.com");
    expect([await count("client-a"), await count("client-b")]).toEqual(["0\n", "0\n"]);
    const check = await ecm([
      "suppressions",
      "check",
      "ada@example.com",
      "--profiles",
      "client-a,sandbox",
      "--columns",
      "profile,key,suppressed",
    ]);
    expect(check).toMatchObject({ code: 1 });
    expect(check.stdout).toBe(
      "profile\tkey\tsuppressed\nclient-a\tada@example.com\tyes\nsandbox\tada@example.com\tno\n",
    );
  });

  it("asks once at a terminal, and names the accounts", { tags: "slow" }, async () => {
    const { ecm, count } = await startAgency();
    const words = ["contact", "erase", "ada@example.com", "--profiles", "client-a,client-b"];
    const declined = await ecm(words, { typed: "n\r", terminalColumns: 200 });
    expect(declined.code).toBe(1);
    expect(declined.stderr).toContain('Run "ecm contact erase" for 2 profiles (client-a, client-b)?');
    expect(await count("client-a")).toBe("1\n");
    const agreed = await ecm(words, { typed: "y\r", terminalColumns: 200 });
    expect(agreed.code).toBe(0);
    expect(agreed.stdout).toContain("profile");
    expect(agreed.stdout).toMatch(/client-b +.*deleted/);
  });

  it("leaves a key that holds {profile} as it is: it names nobody else", { tags: "slow" }, async () => {
    const { ecm } = await startAgency();
    for (const profile of ["client-a", "client-b"])
      await ecm(["contact", "create", "--profile", profile, "--key", `${profile}@example.com`]);
    const words = ["contact", "get", "{profile}@example.com", "--profiles", "client-a,client-b"];
    const { code, stdout, stderr } = await ecm(words);
    expect(code).toBe(5);
    expect(stdout).not.toContain("client-a@");
    expect(stderr).toContain("{profile}@example.com");
  });

  it("prices an import for every account, each with its own file and plan", { tags: "slow" }, async () => {
    const { ecm, count } = await startAgency();
    const folder = await temporaryFolder();
    await writeFile(join(folder, "client-a.csv"), "key\nbob@example.com\neve@example.com\n");
    await writeFile(join(folder, "client-b.csv"), "key\nada@example.com\n");
    const words = ["import", join(folder, "{profile}.csv"), "--dry-run", "--profiles", "client-a,client-b"];
    const plan = join(folder, "{profile}.ndjson");
    const { code, stdout, stderr } = await ecm([...words, "--plan", plan, "-o", "csv"]);
    expect(code, stderr).toBe(0);
    expect(stdout).toBe(
      [
        "profile,created,updated,deleted,unchanged,skipped,rejected,requests,seconds",
        "client-a,2,0,0,0,0,0,4,1",
        "client-b,0,0,0,1,0,0,2,0",
        "",
      ].join("\n"),
    );
    expect(await readFile(join(folder, "client-a.ndjson"), "utf8")).toContain("eve@example.com");
    expect(existsSync(join(folder, "client-b.ndjson"))).toBe(true);
    expect(await count("client-a")).toBe("1\n");
    const both = await ecm([...words, "--plan", join(folder, "one.ndjson")]);
    expect(both).toMatchObject({ code: 2, stdout: "" });
    expect(both.stderr).toContain("{profile}-plan.ndjson");
    const json = await ecm(["import", "-", ...words.slice(2), "--json"], { stdin: "key\nzoe@example.com\n" });
    expect(JSON.parse(json.stdout)).toMatchObject([
      { profile: "client-a", status: "dry-run", rows: { read: 1, created: 1 } },
      { profile: "client-b", status: "dry-run", rows: { read: 1, created: 1 } },
    ]);
  });

  it("shows limits, checks, runs and differences of each account", { tags: "slow" }, async () => {
    const { ecm, env } = await startAgency();
    const folder = await temporaryFolder();
    await writeFile(join(folder, "s.yaml"), (await ecm(["-p", "client-b", "structure", "pull"])).stdout);
    const both = ["--profiles", "client-a,client-b"];
    const limits = await ecm(["limits", ...both]);
    expect(lines(limits.stdout).map((line) => line.split("\t").slice(0, 3))).toEqual([
      ["profile", "hour remaining", "hour limit"],
      ["client-a", expect.stringMatching(/^\d+$/), "3600"],
      ["client-b", expect.stringMatching(/^\d+$/), "3600"],
    ]);
    const doctor = await ecm(["doctor", "--profiles", "client-a,client-z"]);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/^client-a\tpass\tkey\t/m);
    expect(doctor.stdout).toMatch(/^client-z\tfail\tkey\t/m);
    const dossier = await ecm(["contact", "dossier", "ada@example.com", ...both]);
    expect(JSON.parse(dossier.stdout), dossier.stderr).toMatchObject([
      { profile: "client-a", receipt: {} },
      { profile: "client-b", receipt: {} },
    ]);
    const pages = await ecm(["contact", "dossier", "ada@example.com", "-o", "markdown", ...both]);
    expect(pages).toMatchObject({ code: 2, stdout: "" });
    const diff = await ecm(["structure", "diff", join(folder, "s.yaml"), "--exit-code", ...both, "--json"]);
    expect(diff.code).toBe(9);
    expect((JSON.parse(diff.stdout) as { profile: string }[]).map(({ profile }) => profile)).toEqual([
      "client-a",
    ]);
    await ecm(["-p", "client-a", "import", "-"], { stdin: "key\nbob@example.com\n" });
    const runs = await ecm(["runs", "list", ...both, "--json"]);
    expect(JSON.parse(runs.stdout)).toMatchObject([{ profile: "client-a", status: "completed" }]);
    const read = await ecmWith({ ...env, ECM_READ_ONLY: "1" })(["auth", "status", ...both]);
    expect(read.stdout).toMatch(/^client-b\t/m);
  });

  it("that is interrupted shows what was done, and starts no other account", { tags: "slow" }, async () => {
    const { ecm } = await startAgency();
    const interruption = new AbortController();
    const server = await startHttpServer((_request, response) => {
      interruption.abort(createInterruption("SIGINT"));
      response.destroy();
    });
    const login = ["auth", "login", "--profile", "client-m", "--base-url", server.baseUrl, "--no-verify"];
    await ecm([...login, "--api-key-stdin"], { stdin: `ecm_us_${"x".repeat(43)}\n` });
    const words = ["contact", "erase", "ada@example.com", "--profiles", "client-a,client-m,client-b"];
    const { code, stdout } = await ecm([...words, "--yes", "--json"], { signal: interruption.signal });
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject([
      { profile: "client-a", contact: "deleted" },
      { profile: "client-m", error: { exitCode: 130 } },
    ]);
  });

  it("refuses what would be the same account each time, or no result", async () => {
    const { ecm, env } = await startAgency();
    const refusals: [words: string[], message: RegExp][] = [
      [["limits", "--profiles", "*", "-p", "client-a"], /--profiles and --profile cannot be used together/],
      [["contact", "search", "--profiles", "*", "-o", "id"], /-o id does not say whose ids/],
      [["import", "x.csv", "--profiles", "*"], /takes it only with --dry-run/],
      [["contact", "create", "--key", "a@b.co", "--profiles", "*"], /takes it only with --dry-run/],
    ];
    for (const [words, message] of refusals) {
      const { code, stdout, stderr } = await ecm(words);
      expect({ code, stdout }, words.join(" ")).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(message);
    }
    const variable = await ecmWith({ ...env, ECM_BASE_URL: "https://api.example.com" })([
      "limits",
      "--profiles",
      "*",
    ]);
    expect(variable.code).toBe(2);
    expect(variable.stderr).toContain("ECM_BASE_URL is set");
    // A mistyped name must not leave an account out in silence.
    const typo = await ecm([
      "contact",
      "erase",
      "ada@example.com",
      "--profiles",
      "client-a,clint-b",
      "--yes",
    ]);
    expect(typo.code).toBe(5);
    expect(typo.stderr).toContain('no profile matches "clint-b"');
    expect(
      JSON.parse((await ecm(["contact", "get", "ada@example.com", "-p", "client-a", "--json"])).stdout),
    ).toMatchObject({ key: "ada@example.com" });
    expect((await ecm(["export", "--profiles", "*"])).stderr).toContain("--profiles");
  });
});

describe("a pattern of profiles", () => {
  const profiles = { names: () => ["shop.eu", "shopXeu", "client-b", "client-a", "sandbox"] };
  it.each([
    ["client-*", ["client-a", "client-b"]],
    ["*", ["client-a", "client-b", "shop.eu", "shopXeu"]],
    ["shop.*", ["shop.eu"]],
    ["shop?eu, client-b,client-*", ["shop.eu", "shopXeu", "client-b", "client-a"]],
    ["sandbox", ["sandbox"]],
  ])("%s", (pattern, names) => {
    expect(chooseProfiles(profiles, pattern)).toEqual(names);
  });
  it.each(["", "client-a,", "sand*", "CLIENT-A"])("%j names none", (pattern) => {
    expect(() => chooseProfiles(profiles, pattern)).toThrow(NotFoundError);
  });
});
