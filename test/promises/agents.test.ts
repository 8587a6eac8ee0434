/** What programs that cannot ask are told: the command that leads on, when to come back, what was left out. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { addFlagsToCommand } from "../../src/commands/shared/command-line.ts";
import type { Settings } from "../../src/config/settings.ts";
import { version } from "../../src/version.ts";
import { ecmWith, type Result, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const root = join(import.meta.dirname, "../..");

interface ErrorLine {
  message: string;
  hint?: string;
  fix?: string[];
  retryAfterSeconds?: number;
  resumableAt?: string;
  foreign?: string[];
}

function readError({ stderr }: Result): ErrorLine {
  return JSON.parse(stderr.split("\n").findLast((line) => line.startsWith('{"error"'))!).error;
}

interface Described {
  command: string;
  danger: string;
  writes: boolean;
  scopes: string[];
  files: { path: string; type: string }[];
  foreign?: string[];
}

async function describeAll(): Promise<{ etag: string; commands: Described[] }> {
  return JSON.parse((await ecmWith(await temporaryHome())(["commands", "--all"])).stdout);
}

describe("fix", () => {
  it.each<[typed: string[], fix: string[] | undefined]>([
    [
      ["contact", "serch", "--list", "News"],
      ["contact", "search", "--list", "News"],
    ],
    [
      ["lists", "list", "--siz", "5"],
      ["lists", "list", "--size", "5"],
    ],
    [
      ["get", "ada@example.com"],
      ["contact", "get", "ada@example.com"],
    ],
    [
      ["lists", "members", "News"],
      ["contact", "search", "--list", "News"],
    ],
    [
      ["contact", "search", "--email", "ada@example.com"],
      ["contact", "search", "--key", "ada@example.com"],
    ],
    [["lists", "remov", "News"], undefined],
    [["delete", "ada@example.com"], undefined],
    [["runs", "remve", "last"], undefined],
    [
      ["contact", "mutate", "ada@example.com", "--sett", "City=Oslo", "--dry-run"],
      ["contact", "mutate", "ada@example.com", "--set", "City=Oslo", "--dry-run"],
    ],
    [["contact", "mutate", "ada@example.com", "--sett", "City=Oslo"], undefined],
    [
      ["runs", "show", "nothing"],
      ["runs", "list"],
    ],
    [["contact", "get"], undefined],
  ])("of %j is %j", async (typed, fix) => {
    const ecm = ecmWith(await temporaryHome());
    const result = await ecm(["--profile", "sandbox", "--json", ...typed]);
    expect(result.code).not.toBe(0);
    const globals = fix?.[0] === "runs" ? ["--profile", "sandbox"] : ["--profile", "sandbox", "--json"];
    expect(readError(result).fix).toEqual(fix && ["ecm", ...globals, ...fix]);
  });

  it("works as it stands, and says nothing of a key that was typed", async () => {
    const { ecm } = await startSandbox();
    const [, ...words] = readError(await ecm(["lists", "lisst", "--json"])).fix!;
    expect(await ecm(words)).toMatchObject({ code: 0, stdout: "[]\n" });
    const typed = await ecm(["lists", "list", "--json", "--api-key", "ecm_us_0123456789abcdef"]);
    expect(typed.stderr).not.toContain("0123456789abcdef");
  });
});

describe("a bulk run that meets the hour", () => {
  it("says when to come back, with which command, and which program it was", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 6 });
    const keys = Array.from({ length: 9 }, (_, index) => `p${index}@example.com`);
    const stopped = await ecm(["import", "-", "--no-wait", "--json"], {
      stdin: ["Email", ...keys].join("\n"),
    });
    expect(stopped.code).toBe(7);
    const summary = JSON.parse(stopped.stdout);
    expect(summary).toMatchObject({ program: version, schema: 1, stoppedBy: "hour" });
    const { fix, retryAfterSeconds, resumableAt } = readError(stopped);
    expect(fix).toEqual(["ecm", "runs", "resume", summary.run]);
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(resumableAt).toBe(summary.resumableAt);
  });
});

it("words of the service in an error are marked as such", async () => {
  const { ecm } = await startSandbox();
  expect(readError(await ecm(["api", "GET", "/api/nowhere", "--json"])).foreign).toEqual(["message"]);
  expect(readError(await ecm(["nothing", "--json"]))).not.toHaveProperty("foreign");
});

it("a list that is shown in part says so in JSON, with the flags that show the rest", async () => {
  const { ecm, sandbox } = await startSandbox();
  sandbox.admin.seed({ contacts: ["a", "b", "c"].map((name) => ({ key: `${name}@example.com` })) });
  const readPart = ({ stderr }: Result) => stderr.split("\n").find((line) => line.startsWith('{"part"'));
  const first = await ecm(["contact", "search", "--json", "--page-size", "2"]);
  expect(JSON.parse(readPart(first)!)).toEqual({ part: { shown: 2, total: 3, more: ["--page", "2"] } });
  expect(readPart(await ecm(["contact", "search", "--json", "--all"]))).toBeUndefined();
  expect(readPart(await ecm(["contact", "search", "-o", "tsv", "--page-size", "2"]))).toBeUndefined();
});

describe("the whole command tree", () => {
  it("has a tag that stays while nothing changes", { tags: "slow" }, async () => {
    const ecm = ecmWith(await temporaryHome());
    const { etag, commands } = await describeAll();
    expect(commands.length).toBeGreaterThan(60);
    const again = await ecm(["commands", "--all", "--if-none-match", etag]);
    expect(JSON.parse(again.stdout)).toEqual({ etag, unchanged: true });
    expect(JSON.parse((await ecm(["commands", "--all", "--if-none-match", "x"])).stdout)).toHaveProperty(
      "commands",
    );
    expect((await ecm(["commands", "--if-none-match", etag])).code).toBe(2);
    expect((await ecm(["commands", "--all", "--schemas"])).code).toBe(2);
  });

  it("a command that asks the service is advised with the flags of its account, no other one is", async () => {
    const { commands } = await describeAll();
    const profile = { value: "shop", source: "flag" };
    // A server and a sandbox are no advice for one account.
    const asking = commands.filter(({ command, foreign }) => foreign && !/^(?:mcp|sandbox)\b/.test(command));
    const groups = new Set(
      asking.map(({ command }) => command.split(" ")[0]).filter((group) => group !== "auth"),
    );
    // An account has a list of its own, which is on this machine.
    groups.add("suppressions");
    for (const { command } of commands) {
      const words = command.split(" ");
      const isOnAccount = groups.has(words[0]) || ["auth login", "auth status"].includes(command);
      const shown = addFlagsToCommand({ words }, { profile } as Settings).words;
      expect(shown, command).toEqual([...(isOnAccount ? ["--profile", "shop"] : []), ...words]);
    }
  });

  it("says how dangerous each command is", async () => {
    const { commands } = await describeAll();
    const dangers = new Map(commands.map(({ command, danger }) => [command, danger]));
    const destructive = [
      "sandbox reset",
      "runs remove",
      "suppressions remove",
      "auth logout",
      "contact delete",
    ];
    for (const command of [...destructive, "contact unsubscribe", "lists delete", "apply", "mcp"])
      expect(dangers.get(command), command).toBe("destructive");
    for (const command of ["import", "contact mutate", "auth use", "suppressions add", "sandbox seed"])
      expect(dangers.get(command), command).toBe("mutating");
    for (const command of ["contact search", "export", "runs list", "doctor", "auth status"])
      expect(dangers.get(command), command).toBe("safe");
    for (const { command, writes, danger } of commands) if (writes) expect(danger, command).not.toBe("safe");
  });

  it("names scopes with which a command works, and without which it does not", { tags: "slow" }, async () => {
    const { sandbox, ecm, baseUrl } = await startSandbox();
    sandbox.admin.seed({
      campaigns: [{ name: "Spring sale", status: "sent" }],
      contacts: [{ key: "ada@example.com" }],
    });
    const { commands } = await describeAll();
    const keysByName = new Map<string, string>();
    const ecmAs = async (scopes: string[], words: string[]) => {
      const name = scopes.join(" ");
      if (!keysByName.has(name)) keysByName.set(name, sandbox.admin.keys.create({ name, scopes }).key);
      const env = { ...(await temporaryHome()), ECM_BASE_URL: baseUrl, ECM_API_KEY: keysByName.get(name)! };
      return (await ecmWith(env)([...words, "--json"])).code;
    };
    expect((await ecm(["lists", "list"])).code).toBe(0);
    for (const words of [
      ["contact", "search"],
      ["contact", "get", "ada@example.com"],
      ["lists", "list"],
      ["structure", "get"],
      ["export"],
      ["events"],
      ["campaigns", "list"],
      ["templates", "list"],
      ["domains", "list"],
      ["reports", "show"],
      ["reports", "campaign", "Spring sale"],
      ["auth", "status"],
      ["doctor"],
      ["contact", "mutate", "ada@example.com", "--set", "First Name=Ada"],
    ]) {
      const { scopes } = commands.find(({ command }) => words.join(" ").startsWith(command))!;
      expect(await ecmAs(scopes, words), `${words.join(" ")}: ${scopes}`).toBe(0);
      const others = ["contacts:read", "campaigns:read", "domains:read", "reports:read"].filter(
        (scope) => !scopes.some((each) => each.split(":")[0] === scope.split(":")[0]),
      );
      expect([1, 4], words.join(" ")).toContain(await ecmAs(others, words));
    }
  });

  it("names the files that a command may write", async () => {
    const { commands } = await describeAll();
    const listFiles = (name: string) => commands.find(({ command }) => command === name)!.files;
    expect(listFiles("import").map(({ path }) => path)).toEqual(
      expect.arrayContaining(["$ECM_CACHE_DIR", "$ECM_STATE_DIR/runs", "--plan", "--rejects"]),
    );
    expect(listFiles("auth login")).toContainEqual({ path: "$ECM_CONFIG_DIR", type: "credential" });
    expect(listFiles("runs list")).toEqual([]);
  });

  it("has the form of the CLI Agent Spec with --schema", async () => {
    const ecm = ecmWith(await temporaryHome());
    const { stdout, code } = await ecm(["--schema"]);
    expect(code).toBe(0);
    const validate = new Ajv({ strict: false }).compile(manifestSchema);
    expect(validate(JSON.parse(stdout)), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  });
});

const object = (properties: object, required: string[]) => ({
  ...{ type: "object", properties, required, additionalProperties: false },
});
const string = { type: "string" };
/** What that specification asks of a manifest. */
const manifestSchema = object(
  {
    schema_version: { type: "string", pattern: "^\\d+\\.\\d+$" },
    framework_version: string,
    etag: string,
    commands: {
      type: "object",
      additionalProperties: object(
        {
          description: string,
          danger_level: { enum: ["safe", "mutating", "destructive"] },
          flags: {
            type: "object",
            additionalProperties: object(
              {
                type: { enum: ["string", "integer", "number", "boolean", "array", "enum"] },
                required: { type: "boolean" },
                description: string,
                default: {},
                enum_values: { type: "array", items: string },
                short: { type: "string", maxLength: 1 },
              },
              ["type", "required", "description"],
            ),
          },
          exit_codes: {
            type: "object",
            additionalProperties: {
              ...object(
                {
                  name: string,
                  description: { type: "string", minLength: 1, maxLength: 120 },
                  retryable: { type: "boolean" },
                  side_effects: { enum: ["none", "partial", "complete"] },
                },
                ["description", "retryable", "side_effects"],
              ),
              if: { properties: { retryable: { const: true } } },
              // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
              then: { properties: { side_effects: { enum: ["none"] } } },
            },
          },
          examples: { type: "array", items: object({ description: string, command: string }, ["command"]) },
        },
        ["description", "danger_level", "flags", "exit_codes"],
      ),
    },
  },
  ["schema_version", "framework_version", "etag", "commands"],
);

it("says on a Node that is too old which one it needs, in JSON too, before anything is loaded", {
  tags: "slow",
}, () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const old = 'Object.defineProperty(process.versions, "node", { value: "20.18.3" });';
  const start = (...words: string[]) =>
    spawnSync(process.execPath, ["-e", `${old} require("./bin/ecm.js")`, "x", ...words], {
      cwd: root,
      encoding: "utf8",
    });
  const { status, stdout, stderr } = start("lists", "list", "--json");
  expect([status, stdout]).toEqual([2, ""]);
  expect(JSON.parse(stderr).error).toMatchObject({
    type: "RuntimeVersionError",
    exitCode: 2,
    requirement: engines.node,
    actual: "20.18.3",
  });
  expect(start("lists", "list").stderr).toMatch(/^error: ecm needs Node\.js 20\.19 .*\nhint: .+\n$/);
});
