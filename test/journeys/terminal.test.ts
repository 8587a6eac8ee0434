/** A person at a terminal: what is missing is asked for, and an answer goes the way of a flag. */
import { beforeEach, describe, expect, it } from "vitest";
import { done, type Ecm, ends, inputFile, readJson, refused, startSandbox } from "../kit.ts";
import { type Answer, down, enter } from "../support/typing.ts";

const at80 = { terminalColumns: 80, env: { NO_COLOR: "1" } };

let ecm: Ecm;
let env: Record<string, string>;

beforeEach(async () => {
  const contents = { tags: ["vip", "press"], lists: ["Newsletter", "Leads"] };
  ({ ecm, env } = await startSandbox({ contents }));
});

const json = (line: string) => readJson(ecm, line);

const asked = (args: string | string[], ...typed: Answer[]) => ecm(args, { ...at80, typed });

/** For a screen reader. */
const askedPlainly = (args: string, ...typed: Answer[]) =>
  ecm(args, { ...at80, env: { ...at80.env, ACCESSIBLE: "1" }, typed });

describe("what is missing", () => {
  it("takes no blanks around a name or a key, as pasted text has them", async () => {
    for (const ask of [asked, askedPlainly]) {
      await done(ask("lists create", ["Name of the list", `  ${ask.name} ${enter}`]));
      await done(ecm(["lists", "show", ask.name]));
    }
    await ecm("contact create --key ada@example.com");
    await done(asked("contact get", ["id or key", ` ada@example.com ${enter}`]));
  });

  it.each<[command: string, last: string, ...typed: Answer[]]>([
    ["contact get", "ada@example.com", ["id or key", ""]],
    ["lists create", "Customers", ["Name of the list", ""]],
    ["structure field add", "City", ["Label of the new field", ""]],
    ["structure tag add", "gold", ["Label of the new tag", ""]],
    ["structure field rename", "Surname", ["Field to rename", down + enter], ["New label", ""]],
    ["structure tag rename", "gold", ["Tag to rename", enter], ["New label", ""]],
  ])("is asked by ecm %s", async (command, last, ...typed) => {
    await ecm("contact create --key ada@example.com");
    const answers = typed.map(([question, keys]): Answer => [question, keys || last + enter]);
    expect(await done(asked(command, ...answers))).toContain(last);
  });

  it("is chosen, and what a removal takes away is said before it", async () => {
    await ecm("contact create --key ada@example.com --tag press");
    const agree: Answer = ["Every contact that has it loses it", `y${enter}`];
    const remove = asked("structure tag remove", ["Tag to remove", down + enter], agree);
    await ends(remove, 0, 'Remove the tag "press"? Every contact that has it loses it');
    expect((await json("structure get")).tags).toMatchObject([{ label: "vip" }]);
  });

  it("is an error that names it where nobody can be asked, with every command that asks", async () => {
    const usages = [
      ...["contact create --key", "contact get ID-OR-KEY", "contact mutate ID-OR-KEY", "lists create NAME"],
      ...["structure field add LABEL", "structure field rename FIELD LABEL", "structure field remove FIELD"],
      ...["structure tag add LABEL", "structure tag rename TAG LABEL", "structure tag remove TAG"],
      ...["auth use NAME", "runs show RUN", "runs resume RUN", "runs undo RUN", "runs rejects RUN"],
      ...["runs retry RUN", "runs remove RUN"],
    ];
    for (const usage of usages) {
      const [, command = "", named] = /^([a-z ]+) (.*)$/.exec(usage)!;
      for (const result of [await ecm(command), await ecm(`${command} --no-input`, at80)]) {
        expect(result, usage).toMatchObject({ code: 2, stdout: "" });
        const said = new RegExp(`error: .* is missing\nhint: .*ecm ${command}.*${named}`);
        expect(result.stderr, usage).toMatch(said);
      }
    }
  });

  it("ends with 130 at Ctrl-C, and nothing was written", async () => {
    for (const ask of [asked, askedPlainly]) {
      const { code, stdout, stderr } = await ask("lists create", ["Name of the list", "Cust\u0003"]);
      expect([code, stdout]).toEqual([130, ""]);
      expect(stderr).toMatch(/\n(\S*)Interrupted\n.*hint:.* Nothing was changed\n$/);
      expect(stderr).not.toContain("error:");
    }
    expect(await json("lists list")).toHaveLength(2);
  });
});

describe("a profile and a run", () => {
  it("are chosen among those that there are", async () => {
    const own = { ...at80, env: { ...at80.env, ECM_BASE_URL: "", ECM_API_KEY: "" } };
    const address: Answer = ["Base URL", env.ECM_BASE_URL + enter];
    const key: Answer = ["API key", env.ECM_API_KEY + enter];
    const login = ecm("auth login --profile work", { ...own, typed: [address, key] });
    expect((await ends(login, 0)).stderr).not.toContain(env.ECM_API_KEY);
    await ends(ecm("auth use", { ...own, typed: [["Profile to use", down + enter]] }), 0, "Selected profile");
  });

  it("is chosen by what it did, for each verb that takes one", async () => {
    const file = await inputFile("Email\nada@example.com\nnot an address\n");
    expect((await ecm(["import", file])).code).toBe(3);
    const choose = (verb: string, ...more: string[]) =>
      asked(["runs", verb, ...more], [`Run to ${verb}`, enter]);
    expect((await ends(choose("show"), 0, "import of")).stdout).toContain("completed");
    expect((await choose("rejects")).stdout).toContain("not an address");
    await ends(choose("undo", "--dry-run"), 3, "1 contact:");
    await refused(choose("resume"), 5, "nothing to choose from");
    const remove = (answer: string) =>
      asked("runs remove", ["Run to remove", ` ${enter}`], ["Remove run", answer]);
    await refused(remove(`n${enter}`), 1, "Cancelled; nothing changed");
    expect(await json("runs list")).toHaveLength(1);
    await done(remove(`y${enter}`));
    expect(await json("runs list")).toEqual([]);
  });
});

it("the undo of a run is agreed to before anything is restored, and says what it has restored", async () => {
  const file = await inputFile("Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n");
  await ecm("contact create --key ada@example.com --set 'First Name=Augusta'");
  await ecm(["import", file]);
  const get = "contact get ada@example.com -o tsv --columns 'First Name'";
  const firstName = async () => (await done(ecm(get))).split("\n")[1];
  const undo = (keys: string) => asked("runs undo last", ["Restore 1 contact in", keys]);
  const refusals = { [`n${enter}`]: 1, "\u0003": 130 };
  for (const [keys, code] of Object.entries(refusals)) {
    expect((await undo(keys)).code).toBe(code);
    expect(await firstName()).toBe("Ada");
    expect(await json("runs list")).toHaveLength(1);
  }
  const said = / 1 restored\n +1 not undone +created by the run, not/;
  expect((await ends(undo(`y${enter}`), 3, said)).stderr).not.toContain("Undo:");
  expect(await firstName()).toBe("Augusta");
});

describe("with ACCESSIBLE=1", () => {
  it("choices are numbered, a wrong number is asked for again, and nothing is redrawn", async () => {
    const answers = Object.entries({ "Number, 1 to 2:": "3\n", 'no number "3"': "2\n", "(y/N)": "y\n" });
    const remove = askedPlainly("structure tag remove", ...answers);
    expect((await ends(remove, 0, "  1. vip\n  2. press\n")).stderr).not.toContain("\u001b");
    expect((await json("structure get")).tags).toMatchObject([{ label: "vip" }]);
  });

  it("several are named by their numbers, and a secret is not shown", async () => {
    for (const name of ["Red", "Blue"]) await ecm(["lists", "create", name]);
    await done(askedPlainly("lists delete", ["empty for none:", "2, 3\n"], ["(y/N)", "y\n"]));
    expect(await json("lists list")).toHaveLength(2);
    const plain = { ...at80, env: { ...at80.env, ACCESSIBLE: "1", ECM_API_KEY: "" } };
    const typed = Object.entries({ "API key (not shown):": `${env.ECM_API_KEY}\r` });
    const login = ecm(`auth login --profile work --base-url ${env.ECM_BASE_URL}`, { ...plain, typed });
    expect((await ends(login, 0)).stderr).not.toContain(env.ECM_API_KEY);
  });
});

it("colour tells errors and hints apart at a terminal, unless it is not wanted; foreign text has none", async () => {
  await ecm(["structure", "tag", "add", "\u001b[31mred"]);
  const slip = ["contact", "search", "--tag", "vpi"];
  const said = '\u001b[31m\u001b[1merror:\u001b[22m\u001b[39m No tag is named "vpi"';
  await ends(ecm(slip, { terminalColumns: 80 }), 5, said, '\u001b[2mhint:\u001b[22m Did you mean "vip"?');
  for (const args of [slip, ["contact", "serch"], ["contact", "search", "--page", "x"]]) {
    expect((await ecm([...args, "--no-color"], { terminalColumns: 80 })).stderr).not.toContain("\u001b");
    expect((await ecm(args)).stderr).not.toContain("\u001b");
  }
  const dialog = await asked("structure tag remove", ["Tag to remove", "\u0003"]);
  expect(dialog.stderr).toContain("\\x1b[31mred");
  expect(dialog.stderr).not.toContain("\u001b[31m");
});
