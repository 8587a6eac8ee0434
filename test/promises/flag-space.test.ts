/** Whatever a command is given: valid output or none, one JSON line for a failure, no trace. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { describeCommandJson } from "../../src/commands/help/help-text.ts";
import { exitCodes } from "../../src/errors.ts";
import { done, ecmWith, type Result, refused, startSandbox, temporaryFolder, temporaryHome } from "../kit.ts";
import { loadLeaves } from "../support/command-tree.ts";
import { anyText, runs } from "../support/runs.ts";

interface CommandFacts {
  command: string;
  arguments: { name: string; required: boolean; repeats?: boolean }[];
  flags: { name: string; value?: string }[];
  /** Flags that it cannot do without, with a value. */
  mandatory: string[];
}

/** What these name would be run, or written here; or the command goes on until it is stopped. */
const leftAlone = /^--(api-key-command|output-file|rejects|follow)\b/;
/** These serve until they are stopped, run a foreign program, or print a script: no table and no JSON. */
const apart = /^(sandbox (start|exec)|completion)/;

const values = fc.oneof(
  fc.constantFrom(
    ..."- -- 0 -1 1 1e9 Newsletter VIP =x a=b=c ada@example.com GET POST".split(" "),
    ..."/api/contact-structure [] { null __proto__ constructor".split(" "),
    ...["", "no such name", "First Name=Ada", "KEY EQ x"],
  ),
  fc.constantFrom(
    ...["\u001b[31mred", "a\u0000b", "\ud800", "\u202eexe"],
    ...'名前 %00 ../../x /dev/null/x a,b "'.split(" "),
  ),
  anyText({ maxLength: 8 }),
);

it("gives valid output or none, and one error for every failure, over the space of commands and flags", async () => {
  await goElsewhere();
  const contacts = [{ key: "ada@example.com" }];
  const contents = { lists: ["Newsletter"], tags: ["VIP"], contacts };
  const { ecm } = await startSandbox({ hourlyLimit: 1_000_000, contents });
  const commands = await leaves();

  const args = fc.constantFrom(...commands).chain((command) => {
    const own = command.flags.map(({ name, value }) => (value ? `${name} ${value}` : name));
    const tried = [...own.filter((flags) => !leftAlone.test(flags)), ...globalFlags];
    return fc.record({
      path: fc.constant(command.command.split(" ")),
      args: fc.array(values, { maxLength: command.arguments.length + 1 }),
      flags: fc.array(fc.constantFrom(...tried).chain(flagWords), { maxLength: 4 }),
    });
  });
  await fc.assert(
    fc.asyncProperty(args, fc.boolean(), async ({ path, args, flags }, isJson) => {
      const line = ["--no-input", ...(isJson ? ["--json"] : []), ...path, ...args, ...flags.flat()];
      // What stands behind `--` is no flag, and a later -o would win over --json.
      fc.pre(!line.includes("--") && !line.includes("-o") && !line.includes("--output"));
      fc.pre(!line.includes("--help") && !line.includes("-h"));
      holds(await ecm(line, { stdin: "" }), isJson, line);
    }),
    { numRuns: runs(40) },
  );
});

it("says of an empty name of a file what it is, whatever the command, and sends nothing", async () => {
  const { ecm, sandbox } = await startSandbox();
  const takesFile = (flags: string) => / <file>$/.test(flags);
  const lines = (await leaves()).flatMap(({ command, arguments: argumentSpecs, flags, mandatory }) => {
    const args = argumentSpecs.filter(({ required }) => required).map(() => "GET");
    const place = argumentSpecs.findIndex(({ name }) => name === "file");
    const flagPairs = flags.map(({ name, value }) => `${name} ${value}`).filter(takesFile);
    const path = [...command.split(" "), ...mandatory];
    return [
      ...(place === -1 ? [] : [[...path, ...argumentSpecs.slice(0, place).map(() => "x"), ""]]),
      ...flagPairs.map((flag) => [...path, ...args, flag.split(" ")[0]!, ""]),
    ];
  });
  lines.push(["api", "POST", "/api/contact", "-F", "note=@"]);
  expect(lines.length).toBeGreaterThan(40);
  const before = sandbox.admin.requests().length;
  for (const line of lines) {
    const isEmpty = /^error: (--[\w-]+ is empty|(-F: t|T)he name of the file is empty)\nhint: /;
    await refused(ecm([...line, "--no-input", "--yes"]), 2, isEmpty);
  }
  expect(sandbox.admin.requests().length).toBe(before);
});

it.each(["contact", "structure field"])("a program is told that a command is missing: %s", async (line) => {
  const ecm = ecmWith(await temporaryHome());
  const { error } = JSON.parse(await refused(ecm(`${line} --json`), 2));
  expect(error).toMatchObject({ type: "UsageError", retryable: false });
});

it.each([
  ["help contact", "contact --help"],
  ["help contact search", "contact search --help"],
  ["help export", "export --help"],
  ["--profile sandbox help contact search", "contact search --help"],
  ["-q help", "--help"],
  ["help variants", "sandbox variants"],
  ["help", "--help"],
  ["lists", "lists --help"],
  ["--profile sandbox contact", "contact --help"],
  ["structure field", "structure field --help"],
  ["runs", "runs list"],
  ["auth --json", "auth list --json"],
])("`%s` says what `%s` says", async (one, other) => {
  const ecm = ecmWith(await temporaryHome());
  expect(await done(ecm(one))).toBe(await done(ecm(other)));
});

it("help of no command is an error, and no hint tells of what is hidden", async () => {
  const ecm = ecmWith(await temporaryHome());
  await refused(ecm("help contcat"), 2, "Use: ecm contact");
  for (const line of ["-q", "commands nope", "help"]) {
    const { stdout, stderr } = await ecm(line);
    expect(stdout + stderr).not.toContain("__complete");
  }
});

it("tells both ways on when no profile is configured", async () => {
  const ecm = ecmWith(await temporaryHome());
  await refused(ecm("contact search"), 4, "ecm auth login", "--profile sandbox");
});

/** Flags that name files get any name: what is written lands in a folder that is removed, `../../` included. */
async function goElsewhere(): Promise<void> {
  const home = process.cwd();
  const folder = join(await temporaryFolder(), "a", "b", "c");
  await mkdir(folder, { recursive: true });
  process.chdir(folder);
  onTestFinished(() => process.chdir(home));
}

const globalFlags = [
  ...["-p, --profile <name>", "--base-url <url>", "-s, --structure <id-or-label>", "--columns <names>"],
  ...["--timeout <seconds>", "--max-wait <seconds>", "-q, --quiet", "-v, --verbose", "-y, --yes"],
  "--read-only",
];

function flagWords(flags: string): fc.Arbitrary<string[]> {
  const name = flags.match(/--[\w-]+/)![0];
  if (!/[<[]/.test(flags)) return fc.constant<string[]>([name]);
  const withValue = values.chain((value) => fc.constantFrom<string[]>([name, value], [`${name}=${value}`]));
  return fc.oneof({ arbitrary: withValue, weight: 2 }, fc.constant<string[]>([name]));
}

/** Each command as `ecm commands` describes it. */
async function leaves(): Promise<CommandFacts[]> {
  const all = (await loadLeaves()).filter(({ path }) => !apart.test(path));
  return all.map(({ command }) => ({
    ...describeCommandJson(command),
    mandatory: command.options
      .filter((option) => option.mandatory)
      .map(({ long, argChoices }) => `${long}=${argChoices?.[0] ?? "x"}`),
  }));
}

function holds({ code, stdout, stderr }: Result, isJson: boolean, line: string[]): void {
  const failureText = `ecm ${line.map((word) => JSON.stringify(word)).join(" ")}\n${stderr}`;
  expect(Object.values(exitCodes) as number[], failureText).toContain(code);
  expect(stderr, failureText).not.toMatch(/internal ?error|InternalError|\n\s+at .*:\d+/i);
  expect(stderr, failureText).not.toContain("[object ");
  expect(stderr, failureText).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  const isFailure = ![exitCodes.done, exitCodes.rejectedRows, exitCodes.differs].includes(code as 0);
  if (!isJson) {
    if (isFailure) expect(stderr, failureText).toMatch(/^error: /m);
    return;
  }
  // The one gives an answer as it came, the other a file as it lies there.
  const isForeign = line.includes("api") || line.includes("rejects");
  if (stdout !== "" && !isForeign) expect(() => JSON.parse(stdout), failureText).not.toThrow();
  if (!isFailure) return;
  const last = stderr.trimEnd().split("\n").at(-1)!;
  const told = { exitCode: code, type: expect.any(String), message: expect.any(String) };
  expect(JSON.parse(last).error, failureText).toMatchObject(told);
}
