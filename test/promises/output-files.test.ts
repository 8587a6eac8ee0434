/** What the name of an output file says, and which files it may replace. */
import { execFileSync } from "node:child_process";
import { chmod, link, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { done, json, manyContacts, refused, startSandbox, startService, temporaryFolder } from "../kit.ts";
import { loadLeaves } from "../support/command-tree.ts";
import { read } from "../tables/reading.ts";

/** A service that must not be asked, and a folder. */
async function unasked() {
  const service = await startService((_request, response) => json(response, 200, []));
  return { ...service, folder: await temporaryFolder() };
}

const people = { contacts: manyContacts(2) };

const isOutputFile = ({ long }: { long?: string | null }) => long === "--output-file";

it.each([
  ["export --output-file -", "To write to stdout, leave it out"],
  ["contact delete a@example.com --backup - --yes", "Name a file"],
  ["import people.csv --report -", "Name a file"],
])("- is not the name of one: ecm %s", async (line, hint) => {
  const { ecm, server } = await unasked();
  await refused(ecm(line), 2, `"-" is not a file\nhint: ${hint}`);
  expect(server.requests).toEqual([]);
});

describe("the name of an output file", () => {
  const listing = ["export", "contact search", "lists list", "events"];
  const change = "contact mutate --all --set City=x";
  it.each<[name: string, flags: string, message: string, commands?: string[]]>([
    ["all.xlsx", "-o csv --output-file", "is xlsx by its name, but the output is csv"],
    ["all.xlsx", "--json --output-file", "is xlsx by its name, but the output is json"],
    ["all.csv", "-o id --output-file", "is csv by its name, but the output is id"],
    ["all.json", "-o ndjson --output-file", "is json by its name, but the output is ndjson"],
    ["all.yaml", "-o csv --output-file", "is yaml by its name, but the output is csv"],
    ["all.md", "--output-file", "is markdown by its name, but the output is csv\nhint: Name it ", ["export"]],
    ["all.csv.gz", "--output-file", "is compressed by its name, but the output is not\nhint: Name it "],
    ["all.html", "-o csv --output-file", "is html by its name, but the output is csv"],
    ["all.csv", "--output-file", "but the output is yaml\nhint: Name it ", ["structure pull"]],
    ["all.xlsx", "--output-file", "is xlsx", ["structure pull"]],
    ["plan.csv", "--dry-run --plan", "but the output is ndjson", [change]],
    ["plan.json", "--dry-run --plan", "is json by its name, but the output is ndjson", [change]],
    ["rejects.xlsx", "--yes --rejects", "is xlsx", [change]],
    ["rejects.json", "--yes --rejects", "but the output is csv", [change]],
    ["gone.xlsx", "--yes --backup", "is xlsx", ["contact delete --all"]],
    ["pages.csv", "--paginate --output-file", "but the output is", ["api GET /api/contact"]],
  ])("%s is refused with %s, before a request: %s", async (name, flags, message, commands = listing) => {
    const { server, ecm, folder } = await unasked();
    for (const command of commands)
      await refused(ecm(`${command} ${flags} ${join(folder, name)}`), 2, message);
    expect(server.requests).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("decides the format where --output does not", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const folder = await temporaryFolder();
    const starts: [string, RegExp][] = [
      ["all.csv", /^key,First Name,/],
      ["all.tsv", /^key\tFirst Name\t/],
      ["all.json", /^\[\n {2}\{\n/],
      ["all.ndjson", /^\{"_id":/],
      ["all.jsonl", /^\{"_id":/],
      ["all.2026-11-22", /^key,/],
      ["all.constructor", /^key,/],
      [".all", /^key,/],
    ];
    const written = async (command: string, name: string, ECM_OUTPUT = "") => {
      await done(ecm(`${command} --output-file ${join(folder, name)}`, { env: { ECM_OUTPUT } }));
      return readFile(join(folder, name), "utf8");
    };
    // What a name says goes before what is usual.
    for (const [name, start] of starts) expect(await written("export", name), name).toMatch(start);
    expect(await written("lists list", "other.json", "csv")).toBe("[]\n");
    expect(await written("structure pull", "structure.yaml", "json")).toContain("label: Default");
    const pulled = await written("structure pull", "structure.json");
    expect(JSON.parse(pulled)).toMatchObject({ label: "Default" });
  });
});

it("every listing takes --output-file, and writes there what it prints", async () => {
  const listings = (await loadLeaves()).filter(({ path }) =>
    /(^| )(list|search|requests|variants)$/.test(path),
  );
  const flags = listings.map(({ command, path }) => [path, command.options.some(isOutputFile)]);
  expect(flags.filter(([, has]) => !has)).toEqual([]);
  const { ecm } = await startSandbox({ contents: people });
  const file = join(await temporaryFolder(), "listed.csv");
  const ofSandbox = ["requests", "keys list", "snapshot list", "variants"].map((each) => `sandbox ${each}`);
  for (const command of ["runs list", "auth list", ...ofSandbox]) {
    await done(ecm(`${command} --output-file ${file}`));
    expect(await readFile(file, "utf8"), command).toBe(await done(ecm(`${command} -o csv`)));
  }
  await refused(ecm(`sandbox requests --follow --output-file ${file}`), 2, "--follow never ends");
  await refused(ecm(`sandbox requests --clear --output-file ${file}`), 2, "--clear empties the whole log");
});

describe("a workbook", () => {
  const values = ["0170 123", "=1+1", "_x0041_\r\n\u0001", "00123"];
  const keyOf = (index: number) => `p${index}@example.com`;
  const contacts = values.map((value, index) => ({ key: keyOf(index), fields: { "First Name": value } }));

  it("holds what the same command prints, as text", async () => {
    const { ecm } = await startSandbox({ contents: { contacts } });
    const book = join(await temporaryFolder(), "all.xlsx");
    // Byte order marks and apostrophes are for text.
    const flags = `--bom --safe-cells --output-file ${book}`;
    await done(ecm(`contact search --columns 'key,First Name' ${flags}`));
    const { rows } = await read(await readFile(book));
    expect(rows.map(({ cells }) => cells)).toEqual(values.map((value, index) => [keyOf(index), value]));
  });

  it("refuses what no cell holds, and leaves no file", async () => {
    const fields = { "First Name": "x".repeat(32_768) };
    const { ecm } = await startSandbox({ contents: { contacts: [{ key: "a@example.com", fields }] } });
    const file = join(await temporaryFolder(), "all.xlsx");
    for (const command of ["export", "contact search"])
      await refused(ecm(`${command} --output-file ${file}`), 1, "has 32,768 characters");
    expect(await readdir(dirname(file))).toEqual([]);
  });
});

it("empty names of columns are refused before a request, and export --all is what export does", async () => {
  const { server, ecm } = await unasked();
  for (const columns of ["", "key,", " , key"]) {
    for (const command of ["contact search", "export", "lists list"])
      await refused(ecm(`${command} --columns '${columns}'`), 2, "name of a column is empty");
  }
  expect(server.requests).toEqual([]);
  const sandbox = await startSandbox({ contents: people });
  expect(await done(sandbox.ecm("export --all"))).toBe(await done(sandbox.ecm("export")));
});

describe("a file that stands in the place of an output file", () => {
  it("is replaced, whoever wrote it", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const file = join(await temporaryFolder(), "notes");
    for (const line of ["export", "contact search", "lists list", "structure pull", "api GET /api/contact"]) {
      await writeFile(file, "do not lose this\n");
      for (let night = 0; night < 2; night += 1) await done(ecm(`${line} --output-file ${file}`));
      expect(await readFile(file, "utf8"), line).not.toContain("do not lose this");
    }
  });

  it("stays as it was until the output is whole", async () => {
    const file = join(await temporaryFolder(), "contacts.csv");
    await writeFile(file, "yesterday\n");
    const { ecm } = await startService((_request, response) => json(response, 500, {}));
    for (const line of ["export", "contact search", "lists list", "api GET /api/contact"]) {
      const { code, stdout } = await ecm(`${line} --output-file ${file}`);
      // What ecm api was answered is shown.
      expect([code, stdout], line).toEqual([1, line.startsWith("api") ? "{}" : ""]);
      expect(await readFile(file, "utf8")).toBe("yesterday\n");
    }
    expect(await readdir(dirname(file))).toEqual(["contacts.csv"]);
  });

  it.each([
    ["export --keys in.csv --output-file OUT", "--output-file names the input file"],
    ["contact search --keys in.csv --output-file OUT", "--output-file names the input file"],
    ["api POST /search --data in.csv --output-file OUT", "--output-file and --data name the same file"],
    ["api POST /search -F note=@in.csv --output-file OUT", "--output-file and -F name the same file"],
    ["import in.csv --plan OUT --dry-run", "--plan names the input file"],
    ["import OUT --plan in.csv", "--plan names the input file"],
    ["import in.csv --rejects OUT", "--rejects names the input file"],
    ["import new.csv --mapping in.csv --plan OUT", "--plan and --mapping name the same file"],
    ["import in.csv --rejects new.csv --plan new.csv", "--plan and --rejects name the same file"],
    ["contact mutate --keys in.csv --add-tag A --plan OUT", "--plan names the input file"],
    ["contact delete --keys in.csv --plan OUT --yes", "--plan names the input file"],
    ["contact delete --keys in.csv --backup OUT --yes", "--backup names the input file"],
    ["contact delete --all --backup new.csv --plan new.csv --yes", "--plan and --backup name the same file"],
    ["lists sync Anyone in.csv --plan OUT", "--plan names the input file"],
  ])("is never another file of the command, also through links: ecm %s", async (line, message) => {
    const { server, ecm, folder } = await unasked();
    const at = (name: string) => join(folder, name);
    await writeFile(at("in.csv"), "Email: key\n");
    await symlink(at("in.csv"), at("symbolic.csv"));
    await link(at("in.csv"), at("hard.csv"));
    for (const output of ["in.csv", "symbolic.csv", "hard.csv"])
      await refused(ecm(line.replace("OUT", output).replaceAll(/\w+\.csv/g, at)), 2, message);
    expect(server.requests).toEqual([]);
    expect(await readFile(at("in.csv"), "utf8")).toBe("Email: key\n");
  });

  it("is never the plan that is carried out", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const plan = join(await temporaryFolder(), "plan.ndjson");
    await done(ecm(`contact mutate --all --set 'First Name=X' --dry-run --plan ${plan}`));
    const written = await readFile(plan, "utf8");
    await refused(ecm(`apply ${plan} --rejects ${plan}`), 2, "--rejects names the input file");
    expect(await readFile(plan, "utf8")).toBe(written);
  });

  it("is a pipe or a link as before, where rejected rows would go", async () => {
    const { ecm } = await startSandbox();
    const folder = await temporaryFolder();
    const at = (name: string) => join(folder, name);
    await writeFile(at("bad.csv"), "Email\nada\n");
    execFileSync("mkfifo", [at("pipe.csv")]);
    await symlink(at("real.csv"), at("link.csv"));
    for (const more of ["", "--dry-run"]) {
      const line = `import ${at("bad.csv")} ${more} --rejects`;
      await refused(ecm(`${line} ${at("pipe.csv")}`), 2, "it is a device or a pipe");
      expect((await lstat(at("pipe.csv"))).isFIFO()).toBe(true);
      await writeFile(at("real.csv"), "");
      expect((await ecm(`${line} ${at("link.csv")}`)).code).toBe(3);
      expect((await lstat(at("link.csv"))).isSymbolicLink()).toBe(true);
      expect(await readFile(at("real.csv"), "utf8")).toContain("key_syntax");
    }
  });

  it("is named with its flag where it cannot be written", async () => {
    const { server, ecm, folder } = await unasked();
    const file = join(folder, "none", "new");
    for (const line of [
      ...["--plan", "--backup", "--rejects"].map((flag) => `contact delete --all --yes ${flag}`),
      ...["--plan", "--rejects"].map((flag) => `lists duplicate Leads Copy ${flag}`),
      "lists merge Leads Fair --into All --plan",
    ])
      await refused(ecm(`${line} ${file}`), 2, `${line.split(" ").at(-1)}: cannot write`);
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["--output-file", "lists list"],
    ["--plan", "contact mutate --all --set City=x --dry-run"],
    ["--rejects", "contact mutate --all --set City=x --dry-run"],
    ["--report", "contact mutate --all --set City=x --dry-run"],
    ["--backup", "contact delete --all --yes"],
  ])("is never ecm's own, also through links: %s", async (flag, line) => {
    const { server, ecm, folder, env } = await unasked();
    const shared = join(folder, "suppressed");
    const own = [join(env.ECM_STATE_DIR!, "kept"), join(env.ECM_CONFIG_DIR!, "deeper", "kept"), shared];
    for (const [index, file] of own.entries()) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, "kept\n");
      await symlink(file, join(folder, `symbolic-${index}`));
      await link(file, join(folder, `hard-${index}`));
    }
    await symlink(env.ECM_CACHE_DIR!, join(folder, "cache"));
    await mkdir(env.ECM_CACHE_DIR!, { recursive: true });
    const linked = own.flatMap((_, index) => [`symbolic-${index}`, `hard-${index}`]);
    const inFolder = [...linked, "cache/new"].map((name) => join(folder, name));
    const places = [...own, join(env.ECM_STATE_DIR!, "new"), ...inFolder];
    // All of them by one flag, and some by each.
    for (const file of places.filter((_, at) => flag === "--output-file" || at % 3 === 0)) {
      const result = ecm(`${line} ${flag} ${file}`, { env: { ECM_SUPPRESSIONS: shared } });
      await refused(result, 2, "one of ecm's own files");
    }
    expect(server.requests).toEqual([]);
    for (const file of own) expect(await readFile(file, "utf8")).toBe("kept\n");
  });

  it.runIf(process.platform !== "win32")("may be a link, but not read-only", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const folder = await temporaryFolder();
    const at = (name: string) => join(folder, name);
    const exportTo = (name: string) => ecm(`export --output-file ${at(name)}`);
    await writeFile(at("mine.csv"), "Email\n");
    await symlink(at("mine.csv"), at("link.csv"));
    await done(exportTo("link.csv"));
    expect((await lstat(at("link.csv"))).isSymbolicLink()).toBe(true);
    expect(await readFile(at("mine.csv"), "utf8")).toContain("p0@example.com");

    await symlink(at("nowhere.csv"), at("broken.csv"));
    await symlink(at("loop"), at("loop"));
    await chmod(at("mine.csv"), 0o444);
    await mkdir(at("sub"));
    for (const [name, said] of [
      ["broken.csv", "leads nowhere"],
      ["loop", ""],
      ["mine.csv", "is read-only"],
      [`${"n".repeat(300)}.csv`, "the name is too long"],
      ["sub", "it is a folder\nhint: Name a file\n"],
      ["new/", "there is no such folder\nhint: Make the folder first, or name another file\n"],
    ] as const)
      await refused(exportTo(name), 2, said);
    expect((await lstat(at("broken.csv"))).isSymbolicLink()).toBe(true);
  });
});

it.runIf(process.platform !== "win32")("a file is its owner's, unless it has other rights", async () => {
  const { ecm } = await startSandbox({ contents: people });
  const folder = await temporaryFolder();
  const before = process.umask(0);
  try {
    for (const line of ["export", "lists list"]) {
      const file = join(folder, line.slice(0, 5));
      await done(ecm(`${line} --output-file ${file}`));
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      await chmod(file, 0o644);
      await done(ecm(`${line} --output-file ${file}`));
      expect((await stat(file)).mode & 0o777).toBe(0o644);
    }
  } finally {
    process.umask(before);
  }
});
