import { PassThrough, Writable } from "node:stream";
import { expect, it } from "vitest";
import type { OutputOptions } from "../../src/terminal/format.ts";
import { presentList, presentOne, type View } from "../../src/terminal/present.ts";
import { Terminal } from "../../src/terminal/terminal.ts";

interface Person {
  _id: string;
  name: string;
  extra?: unknown;
}

const name = { name: "Name", value: (person: Person) => person.name };
const view: View<Person> = {
  columns: [name, { name: "_id", value: (person) => person._id, optional: true }],
  id: (person) => person._id,
};

const people: Person[] = [
  { _id: "1", name: "Ada, Countess", extra: { deep: [1] } },
  { _id: "2", name: "=Grace\tHopper" },
];

function windowTo(stdout: Writable): Terminal {
  return new Terminal({ stdin: new PassThrough(), stdout, stderr: new PassThrough(), env: {} });
}

/** What is written to a screen of this width. */
async function show(present: (terminal: Terminal) => Promise<unknown>, columns?: number): Promise<string> {
  const stdout = Object.assign(new PassThrough(), { columns });
  await present(windowTo(stdout));
  let text = "";
  for (let piece = stdout.read(); piece !== null; piece = stdout.read()) text += piece;
  return text;
}

const list = (output: OutputOptions, items = people, shown = view, columns?: number) =>
  show((terminal) => presentList(terminal, output, items, shown), columns);

it.each<[OutputOptions, string]>([
  [{ format: "csv" }, 'Name\n"Ada, Countess"\n=Grace\tHopper\n'],
  [{ format: "csv", safeCells: true, bom: true }, '\ufeffName\n"Ada, Countess"\n\'=Grace\tHopper\n'],
  [{ format: "tsv" }, "Name\nAda, Countess\n=Grace\\tHopper\n"],
  [{ format: "tsv", columns: ["_ID", "name"] }, "_id\tName\n1\tAda, Countess\n2\t=Grace\\tHopper\n"],
  [{ format: "id" }, "1\n2\n"],
])("a list is the view's columns, or ids: %j", async (output, expected) => {
  expect(await list(output)).toBe(expected);
});

it.each<[OutputOptions, RegExp]>([
  [{ format: "table" }, /^Name +created\n/],
  [{ format: "tsv" }, /^Name\tcreatedAt\n/],
  [{ format: "csv", columns: ["created"] }, /^createdAt\n/],
])("a list has titles for people, and --columns takes them; data keeps names: %j", async (output, head) => {
  const created = { name: "createdAt", title: "created", value: () => "2 Nov" };
  expect(await list(output, people, { ...view, columns: [name, created] })).toMatch(head);
});

it("a list cuts no time to make room", async () => {
  const columns = [
    { name: "started", value: () => "2020-01-02T10:11:12", isTime: "minute" as const },
    { name: "file", value: () => "a name that is longer than the rest" },
  ];
  const text = await list({ format: "table" }, people, { ...view, columns }, 34);
  expect(text).toContain("2 Jan 2020, 10:11  a name that");
});

it("a list asks for no more when the reader has gone", async () => {
  const gone = Object.assign(new Error("write EPIPE"), { code: "EPIPE" });
  const closed = new Writable({ write: (_chunk, _encoding, done) => done(gone) });
  let requestCount = 0;
  async function* endless(): AsyncGenerator<Person> {
    for (;;) {
      requestCount += 1;
      yield people[0]!;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await presentList(windowTo(closed), { format: "ndjson" }, endless(), view);
  expect(requestCount).toBeLessThan(10);
});

it("one record is an object, not an array, and name and value to a person", async () => {
  const one = (format: OutputOptions["format"], person: Person) =>
    show((terminal) => presentOne(terminal, { format }, person, view));
  expect(JSON.parse(await one("json", people[0]!))).toEqual(people[0]);
  expect(await one("table", people[1]!)).toBe("Name  =Grace\\tHopper\n");
});
