import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { OutputOptions } from "../../src/terminal/format.ts";
import { presentList, presentOne, type View } from "../../src/terminal/present.ts";
import { Terminal } from "../../src/terminal/terminal.ts";
import { temporaryFolder } from "../support/ecm.ts";

interface Person {
  _id: string;
  name: string;
  extra?: unknown;
}

const view: View<Person> = {
  columns: [
    { name: "Name", value: (person) => person.name },
    { name: "_id", value: (person) => person._id, optional: true },
  ],
  id: (person) => person._id,
};

const people: Person[] = [
  { _id: "1", name: "Ada, Countess", extra: { deep: [1] } },
  { _id: "2", name: "=Grace\tHopper" },
];

function windowTo(stdout: Writable): Terminal {
  return new Terminal({ stdin: new PassThrough(), stdout, stderr: new PassThrough(), env: {} });
}

/** All that was written: a stream gives it in one piece, or write by write, as Node's line has it. */
function readText(stream: PassThrough): string {
  let text = "";
  for (let piece = stream.read(); piece !== null; piece = stream.read()) text += piece;
  return text;
}

async function presentAsText(output: OutputOptions, items: Person[] = people): Promise<string> {
  const stdout = new PassThrough();
  await presentList(windowTo(stdout), output, items, view);
  return readText(stdout);
}

describe("presentList", () => {
  it("gives the objects untouched as json and ndjson", async () => {
    expect(JSON.parse(await presentAsText({ format: "json" }))).toEqual(people);
    const lines = (await presentAsText({ format: "ndjson" })).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(people);
  });

  it("gives an empty array, an empty stream, or the header alone when there is nothing", async () => {
    expect(await presentAsText({ format: "json" }, [])).toBe("[]\n");
    expect(await presentAsText({ format: "ndjson" }, [])).toBe("");
    expect(await presentAsText({ format: "id" }, [])).toBe("");
    expect(await presentAsText({ format: "csv" }, [])).toBe("Name\n");
    expect(await presentAsText({ format: "tsv" }, [])).toBe("Name\n");
  });

  it("gives the view's columns as csv and tsv, and ids", async () => {
    expect(await presentAsText({ format: "csv" })).toBe('Name\n"Ada, Countess"\n=Grace\tHopper\n');
    expect(await presentAsText({ format: "tsv" })).toBe("Name\nAda, Countess\n=Grace\\tHopper\n");
    expect(await presentAsText({ format: "id" })).toBe("1\n2\n");
  });

  it("heads a table for people by titles, which --columns takes too; data keeps the names", async () => {
    const titled: View<Person> = {
      ...view,
      columns: [view.columns[0]!, { name: "createdAt", title: "created", value: () => "2 Nov" }],
    };
    const show = async (output: OutputOptions) => {
      const stdout = new PassThrough();
      await presentList(windowTo(stdout), output, people.slice(1), titled);
      return readText(stdout).split("\n")[0];
    };
    expect(await show({ format: "table" })).toMatch(/^Name +created$/);
    expect(await show({ format: "tsv" })).toBe("Name\tcreatedAt");
    expect(await show({ format: "csv", columns: ["created"] })).toBe("createdAt");
  });

  it("picks and orders columns, also those that are hidden otherwise", async () => {
    expect(await presentAsText({ format: "tsv", columns: ["_ID", "name"] })).toBe(
      "_id\tName\n1\tAda, Countess\n2\t=Grace\\tHopper\n",
    );
  });

  it("cuts no time to make room", async () => {
    const stdout = Object.assign(new PassThrough(), { columns: 34 });
    const columns = [
      { name: "started", value: () => "2020-01-02T10:11:12", isTime: "minute" as const },
      { name: "file", value: () => "a name that is longer than the rest" },
    ];
    await presentList(windowTo(stdout), { format: "table" }, people, { ...view, columns });
    expect(readText(stdout)).toContain("2 Jan 2020, 10:11  a name that");
  });

  it("refuses an unknown column and names those there are", async () => {
    const failure = await presentAsText({ format: "csv", columns: ["mail"] }).catch((error) => error);
    expect(failure).toMatchObject({ kind: "usage" });
    expect(failure.details.hint).toBe("Columns: Name, _id");
  });

  it("disarms formulas on request, and starts with a byte order mark on request", async () => {
    expect(await presentAsText({ format: "csv", safeCells: true, bom: true })).toBe(
      '\ufeffName\n"Ada, Countess"\n\'=Grace\tHopper\n',
    );
  });

  it("writes a file whole or not at all", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "people.csv");
    await writeFile(file, "what stood there\n");
    async function* failing(): AsyncGenerator<Person> {
      yield people[0]!;
      throw new Error("the line went dead");
    }
    const output: OutputOptions = { format: "csv", outputFile: file };
    await expect(presentList(windowTo(new PassThrough()), output, failing(), view)).rejects.toThrow(
      "went dead",
    );
    expect(await readFile(file, "utf8")).toBe("what stood there\n");
    await presentList(windowTo(new PassThrough()), output, people, view);
    expect(await readFile(file, "utf8")).toBe('Name\n"Ada, Countess"\n=Grace\tHopper\n');
    expect(await readdir(folder)).toEqual(["people.csv"]);
  });

  it("names the file that cannot be written", async () => {
    const output: OutputOptions = {
      format: "csv",
      outputFile: join(await temporaryFolder(), "no", "such.csv"),
    };
    await expect(presentList(windowTo(new PassThrough()), output, people, view)).rejects.toThrow(
      /--output-file.*such\.csv/,
    );
  });

  it("stops asking for more when the reader has gone", async () => {
    const closed = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      },
    });
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
});

describe("presentOne", () => {
  it("gives one object, not an array", async () => {
    const stdout = new PassThrough();
    await presentOne(windowTo(stdout), { format: "json" }, people[0]!, view);
    expect(JSON.parse(readText(stdout))).toEqual(people[0]);
  });

  it("shows name and value to a person", async () => {
    const stdout = new PassThrough();
    await presentOne(windowTo(stdout), { format: "table" }, people[1]!, view);
    expect(readText(stdout)).toBe("Name  =Grace\\tHopper\n");
  });
});
