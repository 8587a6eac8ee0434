/** `ecm structure …` against the embedded service over HTTP. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ContactStructure } from "../../src/wire.ts";
import { type Answerer, errorBody, inputFile, json, startSandbox } from "../kit.ts";
import { done, type Ecm, ends, type Result, readJson, refused, temporaryFolder } from "../support/ecm.ts";
import { plainStructure, startService } from "../support/service.ts";

async function withoutLimits(result: Promise<Result>) {
  const { stderr, ...rest } = await result;
  return { ...rest, stderr: stderr.replace(/^rate-limit: .*\n/m, "") };
}

const readStructure = (ecm: Ecm): Promise<ContactStructure> => readJson(ecm, "structure get");

const labels = (things: { label: string }[] = []) => things.map(({ label }) => label);

/** `ecm` against a service that answers as a test says, and the updates that it was sent. */
async function against(answer: Answerer) {
  const { server, ecm } = await startService(answer);
  const updates = () =>
    server.requests.filter(({ method }) => method === "PUT").map(({ body }) => JSON.parse(body));
  return { ecm, seen: server.requests, updates };
}

it("structure get and list show the same object, by label, by id, and without a name, and a person each part on a line", async () => {
  const { ecm } = await startSandbox({ contents: { tags: ["名前"] } });
  const structure = await readStructure(ecm);
  expect(await readJson(ecm, "structure list")).toEqual([structure]);
  expect(await readJson(ecm, "structure get default")).toEqual(structure);
  expect(await done(ecm(`structure get ${structure._id} -o id`))).toBe(`${structure._id}\n`);
  await refused(ecm("structure get Other"), 5);
  const output = await done(ecm("structure get", { terminalColumns: 100, env: { NO_COLOR: "1" } }));
  const parts = /^part +label +type +id\nfield +First Name +text .*\nfield .*\ntag +名前 /m;
  for (const shown of [/^label +Default\n/, parts]) expect(output).toMatch(shown);
});

describe("structure update, field and tag", () => {
  it("change what is named and keep everything else", async () => {
    const { ecm } = await startSandbox();
    const before = await readStructure(ecm);
    for (const line of [
      "field add 'Customer number' --required",
      "field rename 'last name' Surname",
      "tag add 'north, west' vip VIP",
      "tag rename vip gold",
      "update --label 顧客 --key-name E-mail",
    ])
      await done(ecm(`structure ${line}`));
    const after = await readStructure(ecm);
    expect(after).toMatchObject({ _id: before._id, label: "顧客", keyName: "E-mail", keyType: "email" });
    expect(labels(after.fields)).toEqual(["First Name", "Surname", "Customer number"]);
    expect(after.fields.slice(0, 2)).toEqual([before.fields[0], { ...before.fields[1], label: "Surname" }]);
    expect(after.fields[2]!.required).toBe(true);
    expect(labels(after.tags)).toEqual(["north, west", "gold"]);
  });

  it("say `unchanged` and send nothing when nothing would change, and refuse a label that is taken with exit 6", async () => {
    const { ecm } = await startSandbox({ contents: { tags: ["vip", "gold"] } });
    const before = await readStructure(ecm);
    for (const line of ["tag add VIP", "update --label Default", "field rename 'Last Name' 'Last Name'"])
      expect(await withoutLimits(ecm(`structure ${line}`))).toMatchObject({ code: 0, stderr: "unchanged\n" });
    const taken = ["field add 'first name'", "field rename 'Last Name' 'FIRST NAME'", "tag rename vip Gold"];
    for (const line of taken) await refused(ecm(`structure ${line}`), 6, "already");
    expect(await readStructure(ecm)).toEqual(before);
  });

  it("print the whole update with --dry-run, and send none", async () => {
    const { ecm } = await startSandbox();
    const before = await readStructure(ecm);
    const { _id, keyType: _type, ...rest } = before;
    expect(await readJson(ecm, "structure field add City --dry-run")).toEqual({
      method: "PUT",
      path: `/api/contact-structure/${_id}`,
      body: { ...rest, fields: [...rest.fields, { label: "City", dataType: "text", required: false }] },
    });
    expect(await readStructure(ecm)).toEqual(before);
  });

  it("remove a field with its values, and a tag", async () => {
    const contacts = [{ key: "a@x.org", fields: { Fax: "1" } }];
    const { ecm } = await startSandbox({ contents: { fields: ["Fax"], tags: ["vip"], contacts } });
    await done(ecm("structure field remove fax --yes"));
    expect((await readJson(ecm, "contact get a@x.org")).fields).toEqual([]);
    await done(ecm("structure tag remove vip -y"));
    expect((await readStructure(ecm)).tags).toEqual([]);
  });

  it("ask a person before they remove anything, and take no for an answer", async () => {
    const { ecm } = await startSandbox();
    const remove = (typed: string) =>
      ecm("structure field remove 'last name'", { terminalColumns: 120, typed });
    const question = 'Remove the field "Last Name"? Every contact loses its value; the structure';
    await refused(remove("n\r"), 1, question, "Cancelled; nothing changed");
    await refused(remove("\r"), 1);
    for (const key of ["\u0003", "\u0004"]) await refused(remove(key), 130);
    expect(labels((await readStructure(ecm)).fields)).toContain("Last Name");
    await done(remove("y\r"));
    expect(labels((await readStructure(ecm)).fields)).toEqual(["First Name"]);
  });

  it("refuse what is wrong with exit 2, without a request", async () => {
    const { ecm, sandbox } = await startSandbox();
    for (const [line, message] of [
      ["update", "No change given"],
      ["update --label ' '", "cannot be blank"],
      ["field add ''", "not blank\nhint: Name it: ecm structure field add LABEL\n"],
      ["tag add vip ' '", "not blank"],
      ["field ad x", "ad"],
      ["diff /nowhere/s.yaml", "cannot read /nowhere/s.yaml"],
    ] as const)
      await refused(ecm(`structure ${line}`), 2, message);
    expect(sandbox.admin.requests()).toEqual([]);
  });
});

describe("a structure kept as a file", () => {
  it("is pulled, differs in nothing, is edited, compared, applied, and differs in nothing again", async () => {
    const contact = { key: "a@x.org", fields: { City: "Paris", Fax: "1" }, tags: ["vip"] };
    const contents = { fields: ["City", "Fax"], tags: ["vip", "2024", "no"], contacts: [contact] };
    const { ecm } = await startSandbox({ contents });
    const file = join(await temporaryFolder(), "structure.yaml");
    const run = (verb: string, flags = "") => withoutLimits(ecm(`structure ${verb} ${file} ${flags}`));
    const same = { code: 0, stdout: "" };

    await done(ecm(`structure pull --output-file ${file}`));
    expect(await run("diff", "--exit-code")).toMatchObject(same);
    expect(await run("apply")).toMatchObject({ code: 0, stderr: "unchanged\n" });

    const edited = (await readFile(file, "utf8"))
      .replace("  - label: City", "  - label: Town # moved\n    was: City\n    required: true")
      .replace("  - label: Fax\n", "")
      .replace("  - vip", "  - label: gold\n    was: vip\n  - 名前");
    await writeFile(file, edited);
    const expected = [
      '~ field "City" → "Town"',
      '~ field "Town": required false → true',
      '= field "Fax" is only in the account; --prune removes it',
      '~ tag "vip" → "gold"',
      '+ tag "名前"',
    ];
    const diff = { stdout: `${expected.join("\n")}\n` };
    expect(await run("diff", "--exit-code")).toMatchObject({ code: 9, ...diff });
    expect(await run("diff")).toMatchObject({ code: 0, ...diff });
    const changes: { action: string }[] = await readJson(ecm, `structure diff ${file}`);
    expect(changes.map(({ action }) => action)).toEqual(["rename", "change", "keep", "rename", "add"]);

    const before = await readStructure(ecm);
    const rehearsed = await ends(run("apply", "--dry-run"), 0);
    for (const line of expected) expect(rehearsed.stderr.split(line), line).toHaveLength(2);
    expect(await readStructure(ecm)).toEqual(before);
    const screen = (await ecm(`structure diff ${file}`, { terminalColumns: 40 })).stdout;
    expect(screen).toContain(' field "Fax" is only in the account;\n  --prune removes it\n');
    const applied = await run("apply", "--json");
    expect(applied.stderr).toBe(diff.stdout);
    const after = JSON.parse(applied.stdout) as ContactStructure;
    expect(labels(after.fields)).toEqual(["First Name", "Last Name", "Town", "Fax"]);
    expect(labels(after.tags)).toEqual(["gold", "2024", "no", "名前"]);
    expect(after.fields[2]!._id).toBe(before.fields[2]!._id);

    await writeFile(file, edited.replace("  - no\n", ""));
    const prune = ecm(`structure apply ${file} --prune`, { terminalColumns: 120, typed: "n\r" });
    await refused(prune, 1, /Remove 1 field and 1 tag\? Every contact loses what it has of them; the\s/);
    await writeFile(file, edited);
    expect((await run("apply", "--prune")).code).toBe(2);
    expect(await readStructure(ecm)).toEqual(after);
    await done(run("apply", "--prune --yes"));
    expect(await run("diff", "--exit-code")).toMatchObject(same);
    const row = await done(ecm("contact get a@x.org -o csv --columns Town,tags"));
    expect(row).toBe("Town,tags\nParis,gold\n");
  });

  it("is read from standard input, and a mistake in it is named with its place", async () => {
    const { ecm } = await startSandbox();
    const diff = (stdin: string) => ecm("structure diff - -q", { stdin });
    expect(await done(diff("fields: [First Name, Last Name, City]\n"))).toBe('+ field "City" (text)\n');
    for (const [text, message] of [
      ["fields:\n  - labl: City\n", "standard input: fields, number 1, labl: it is not known here"],
      ["fields:\n  - City\n  - city\n", '"city" appears twice'],
      ["feilds: []\n", "feilds: it is not known here"],
      ["fields: [\n", "line 2, column 1\n"],
      ["- City\n", "it has no label, keyName"],
      ["tags: vip\n", "tags: it is not a list"],
      ["fields:\n  - label: City\n    id: 0123\n", "no field with the id 0123"],
    ] as const)
      await refused(diff(text), 2, message);
  });
});

describe("a structure file that is not what it seems", () => {
  const twoStructures = async () => {
    const fields = [{ _id: "f1", label: "City", dataType: "text", required: false }];
    const alike = { ...plainStructure, fields };
    const held = ["Leads", "Customers"].map((label, at) => ({ ...alike, _id: `s${at}`, label }));
    return against((request, response) => {
      if (request.method === "GET") return json(response, 200, held);
      json(response, 200, { ...held[1], ...JSON.parse(request.body) });
    });
  };

  it("because it is another structure's, asks at a terminal and is exit 2 elsewhere", async () => {
    const { ecm, updates } = await twoStructures();
    const stdin = await done(ecm("structure pull Leads"));
    const file = await inputFile(stdin, "leads.yaml");
    const apply = `-s Customers structure apply ${file}`;
    const said = 'is the file of the structure "Leads", not of "Customers"';
    await refused(ecm(apply), 2, said, "--structure Leads, or confirm with --yes");
    const terminal = (typed: string) => ecm(apply, { terminalColumns: 200, typed });
    await refused(terminal("n\r"), 1, "Apply it all the same?");
    await writeFile(file, "id: s0\nfields: [City, Zip]\n");
    await refused(ecm(apply), 2);
    expect(updates()).toEqual([]);
    expect((await terminal("y\r")).code).toBe(0);
    await writeFile(file, "id: s1\nlabel: Clients\n");
    await done(ecm(apply));
    expect(labels(updates())).toEqual(["Customers", "Clients"]);
    await done(ecm("-s Leads structure apply -", { stdin }));
  });

  it("because it is not UTF-8, is refused and so is any other data", async () => {
    const { ecm, updates } = await twoStructures();
    const file = await inputFile("", "latin1.yaml");
    const bytes = Buffer.from("fields:\n  - City\n  - Größe\n", "latin1");
    await writeFile(file, bytes);
    for (const verb of ["diff", "apply"]) {
      await refused(ecm(`-s Leads structure ${verb} ${file}`), 2, `${file} is not UTF-8`);
      const piped = ecm(`-s Leads structure ${verb} -`, { stdin: bytes });
      await refused(piped, 2, "standard input is not UTF-8");
    }
    const body = Buffer.from('{"key":"a@x.org","x":"ö"}', "latin1");
    await refused(ecm("-s Leads contact create --data -", { stdin: body }), 2, "is not UTF-8");
    await writeFile(file, "\ufefffields: [City, \ufffd]\n");
    expect(await done(ecm(`-s Leads structure diff ${file}`))).toBe('+ field "\ufffd" (text)\n');
    expect(updates()).toEqual([]);
  });
});

describe("a service that tells less, or has moved on", () => {
  const city = { _id: "f1", label: "City", dataType: "text", required: false, width: 3 };
  const zip = { ...city, _id: "f2", label: "Zip" };
  const vip = { _id: "t1", label: "vip", color: "blue" };
  const more = { theme: { color: "red" }, fields: [city], tags: [vip], __v: 4 };
  const structure = { ...plainStructure, _id: "s1", ...more };
  const { tags: _tags, __v, ...short } = structure;

  /** A service that refuses each update with this. */
  const refusing = (body: object) =>
    against(({ method }, response) =>
      method === "GET" ? json(response, 200, [structure]) : json(response, 400, body),
    );

  /** Others make this change of the structure just before the first update arrives. */
  async function changedMeanwhile(change: object) {
    const meanwhile = { ...structure, ...change };
    let held: object = structure;
    return against((request, response) => {
      if (request.method === "GET") return json(response, 200, [held]);
      if (held !== structure) return json(response, 200, { ...held, ...JSON.parse(request.body) });
      held = meanwhile;
      json(response, 400, errorBody("ConcurrencyError", "stale"));
    });
  }

  it("is asked for the whole structure when the listing leaves out tags, and gets every attribute of fields and tags back, and nothing else", async () => {
    const { ecm, updates } = await against((request, response) => {
      if (request.method === "PUT") return json(response, 200, { ...structure, ...JSON.parse(request.body) });
      json(response, 200, request.url.endsWith("/s1") ? structure : [short]);
    });
    await done(ecm("structure tag add gold"));
    const { _id, keyType: _type, theme: _theme, ...body } = structure;
    expect(updates()).toEqual([{ ...body, tags: [...structure.tags, { label: "gold" }] }]);
  });

  it("keeps `required` of every field when the listing has tags and a version, but leaves `required` out", async () => {
    let held = { ...structure, fields: structure.fields.map((field) => ({ ...field, required: true })) };
    const { ecm, updates } = await against((request, response) => {
      const listed = { ...held, fields: held.fields.map(({ required: _required, ...field }) => field) };
      if (request.method === "PUT") {
        held = { ...held, ...JSON.parse(request.body) };
        held.tags = held.tags?.map((tag, index) => ({ ...tag, _id: tag._id ?? `t${index}` }));
      }
      if (request.url.includes("/search")) return json(response, 200, { totalRecords: 0, contacts: [] });
      if (request.method === "POST") return json(response, 200, { _id: "c1", ...JSON.parse(request.body) });
      json(response, 200, request.method === "PUT" || request.url.endsWith("/s1") ? held : [listed]);
    });
    await done(ecm("structure tag add gold"));
    await done(ecm("structure field rename City Renamed"));
    const line = `import ${await inputFile("Email\nada@example.com\n")} --tag new --create-missing`;
    const dry = await readJson(ecm, `${line} --dry-run`);
    const real = await readJson(ecm, line);
    expect(real.requests.total).toBe(dry.estimate.requests);
    expect(updates()).toHaveLength(3);
    for (const { fields } of updates()) expect(fields).toMatchObject(fields.map(() => ({ required: true })));
  });

  /** The two fields under these labels. */
  const named = (...labels: string[]) => labels.map((label, at) => ({ ...[city, zip][at], label }));
  const renaming = "structure field rename City Town";
  const file = "fields:\n  - label: Town\n    was: City\n";

  const moved = { label: "Renamed meanwhile", __v: 5 };
  it.each<[what: string, command: [line: string, stdin?: string], meanwhile: object, body: object]>([
    ["the edit again when its version moved on", [renaming], moved, { ...moved, fields: named("Town") }],
    [
      "a file where others changed what it does not speak of",
      ["structure apply -", file],
      { fields: named("City", "Zip") },
      { fields: named("Town", "Zip") },
    ],
    [
      "the name of the field that was meant, whatever has its label now",
      [renaming],
      { fields: named("Old", "City") },
      { fields: named("Town", "City") },
    ],
  ])("is sent %s", async (_what, [command, stdin], meanwhile, body) => {
    const { ecm, updates } = await changedMeanwhile(meanwhile);
    await done(ecm(command, { stdin }));
    expect(updates().at(-1)).toMatchObject(body);
  });

  it.each([
    ["tags: []\n", { tags: [vip, { _id: "t2", label: "new" }] }],
    [file, { fields: named("Town") }],
    ["fields: [Zip, City]\n", { fields: named("Town") }],
  ])("is sent nothing where others made the plan another, or none: %j", async (stdin, meanwhile) => {
    const { ecm, updates } = await changedMeanwhile(meanwhile);
    const said = "so that the plan is another now; nothing was written";
    await refused(ecm("structure apply - --prune --yes", { stdin }), 6, said);
    expect(updates()).toHaveLength(1);
  });

  it("ends with exit 6 when it keeps moving", async () => {
    const { ecm, updates } = await refusing(errorBody("ConcurrencyError", "stale"));
    expect((await ecm("structure tag add gold")).code).toBe(6);
    expect(updates()).toHaveLength(3);
  });

  it("names the forms that hold a field back", async () => {
    const affectedForms = ["Sign-up", "Poll"].map((name, index) => ({ _id: `x${index}`, name }));
    const inUse = errorBody("ContactFieldInUseError", "Field is in use", { debug: { affectedForms } });
    const { ecm } = await refusing(inUse);
    const said = 'error: Field is in use\nhint: Take the field out of these forms first: "Sign-up", "Poll"';
    await refused(ecm("structure field remove City --yes"), 1, said);
  });

  it("is read again after a question where no version tells what others changed meanwhile", async () => {
    const { __v: _version, ...unversioned } = structure;
    const later = { ...unversioned, fields: [...structure.fields, zip] };
    const { ecm, seen } = await against((request, response) => {
      const isRequested = seen.some(({ url }) => url.includes("/search"));
      if (request.url.includes("/search")) return json(response, 200, { totalRecords: 3, contacts: [] });
      if (request.method === "PUT") return json(response, 200, { ...later, ...JSON.parse(request.body) });
      const now = isRequested ? later : unversioned;
      json(response, 200, request.url.endsWith("/s1") ? now : [now]);
    });
    const terminal = { terminalColumns: 120, typed: "y\r" };
    expect((await ecm("structure tag remove vip", terminal)).code).toBe(0);
    expect(JSON.parse(seen.at(-1)!.body).fields).toHaveLength(2);
  });
});
