/** `--report`: a page about a bulk run, drawn from its plan, its journal and its summary. */
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Summary } from "../../src/bulk/index.ts";
import type { SeenPlan } from "../../src/commands/bulk/plan.ts";
import { formatReport } from "../../src/commands/bulk/report.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import { ends, inputFile, manyRows, refused, startSandbox, summaryOf } from "../kit.ts";
import { anyText, runs } from "../support/runs.ts";

const people: SeedData = {
  contacts: [
    { key: "ada@example.com", fields: { "First Name": "Ada" } },
    { key: "gone@example.com", status: "Unsubscribe" },
  ],
};
const rows = [
  "Email,First Name,Opt-in",
  "ada@example.com,<b>Countess</b>,yes",
  "gone@example.com,Gone,yes",
  "new@example.com,New,yes",
  "left@example.com,Left,no",
  "wrong@@example.com,Wrong,yes",
  "",
].join("\n");

async function scene() {
  const service = await startSandbox({ contents: people });
  const file = await inputFile(rows);
  const report = join(dirname(file), "report.html");
  const read = async () => (await readFile(report, "utf8")).replace(/\s+/g, " ");
  /** The words of the report that a command writes, which exits so. */
  const told = async (line: string, code = 0) => {
    await ends(service.ecm(`${line} --report ${report}`), code);
    return strip(await read());
  };
  return { ...service, file, report, read, told };
}

const strip = (html: string) => html.replace(/<style>.*?<\/style>|<[^>]*>/gs, " ").replace(/\s+/g, " ");

describe("--report", () => {
  it("tells a dry run: counts, reasons, consent, price, changes, rejected rows", async () => {
    const { ecm, file, report, read } = await scene();
    const line = `import ${file} --list News --create-missing --dry-run --report ${report}`;
    const { code, status, stderr } = await summaryOf(ecm, line);
    expect([code, status]).toEqual([3, "dry-run"]);
    expect(stderr).toContain(`Report: ${report}`);
    expect((await stat(report)).mode & 0o777).toBe(0o600);
    const text = strip(await read());
    for (const words of [
      "Import: people.csv",
      "Dry run: nothing was written",
      "would be created 1",
      "would be updated 2",
      "skipped 1 not subscribed (1)",
      "rejected 1 invalid email address (1)",
      "1 not created: the file says not subscribed",
      "1 inactive in the account",
      "Created first list &#34;News&#34;",
      "What would change: 3 contacts",
      "ada@example.com update First Name Ada → &#60;b&#62;Countess&#60;/b&#62; + list News",
      "new@example.com create First Name New list News",
      "6 wrong@@example.com not an email address",
    ])
      expect(text).toContain(words);
    expect(text).toMatch(/Price a real run would send \d+ requests \(/);
    expect(await read()).not.toContain("<script");
  });

  it("names the consent column and how it was read, and folds long tables", async () => {
    const { file, read, told } = await scene();
    const rows = Array.from({ length: 60 }, (_, index) =>
      index < 25 ? `no address ${index},yes,A` : `p${index}@example.com,${index < 30 ? "no" : "yes"},A`,
    );
    await writeFile(file, `Email,Newsletter,First Name\n${rows.join("\n")}\n`);
    const line = `import ${file} --map Newsletter=consent=opt-in --list A --list B --create-missing --yes`;
    const column = "Column &#34;Newsletter&#34; : a yes means subscribed";
    const planned = await told(`${line} --dry-run`, 3);
    const lists = "Created first lists &#34;A&#34;, &#34;B&#34;";
    for (const words of [column, "5 not created: the file says not subscribed", lists])
      expect(planned).toContain(words);
    for (const more of ["10 more", "5 more"]) expect(await read()).toContain(`<summary>${more}</summary>`);
    await told(line, 3);
    expect(await told("runs show last")).toContain(column);
  });

  it("tells a run that was done, now and later, and without the people in it", async () => {
    const { file, read, told } = await scene();
    const now = await told(`import ${file}`, 3);
    expect(now).toContain("Completed");
    expect(now).toContain("What was changed: 3 contacts");
    expect(now).toMatch(/Price \d+ requests/);
    const withoutTime = (text: string) => text.replace(/Report \S+ \S+ UTC/, "");
    expect(withoutTime(await told("runs show last"))).toBe(withoutTime(now));
    const redacted = await told("runs show last --redact");
    expect(redacted).not.toContain("@");
    // The file's name is told, without its folder.
    expect(redacted).toContain("Import: people.csv");
    for (const word of ["Countess", "Wrong", dirname(file), ">New<"])
      expect(await read()).not.toContain(word);
    expect(redacted).toMatch(/#\d+ create First Name …/);
  });

  it("that is redacted shows no address in the name of a list or a tag either", async () => {
    const { told } = await scene();
    const file = await inputFile("Email,Lists\nzoe@example.com,zoe@example.com only\n", "names.csv");
    const line = `import ${file} --create-missing --tag 'of zoe@example.com' --redact`;
    for (const more of ["--dry-run", ""]) {
      const text = await told(`${line} ${more}`);
      expect(text).not.toContain("zoe@");
      expect(text).toContain("of …");
    }
  });

  it("is offered by every bulk command, and shows no more than a thousand changes", async () => {
    const { read, told } = await scene();
    const many = await inputFile(manyRows(1100), "many.csv");
    expect(await told(`import ${many} --dry-run`)).toContain("… and 100 more");
    expect((await read()).match(/<bdi>create</g)).toHaveLength(1000);
    expect(await told("contact mutate --all --set 'First Name=X' --yes")).toContain("Ada → X");
    expect(await told("runs undo last")).toContain("Undo");
    expect(await told("contact delete --all --yes --dry-run")).toContain("ada@example.com delete");
  });

  it("tells how far a run came that was stopped", async () => {
    const { told } = await scene();
    const many = await inputFile(manyRows(30), "many.csv");
    // One that stopped before its plan had begun tells its account and its start too.
    expect(await told(`import ${many} --max-requests 1`, 7)).toMatch(/Account http\S+ .* Started 20\d\d-/);
    const stopped = await told(`import ${many} --max-requests 12`, 7);
    expect(stopped).toMatch(/Account http\S+ .* Started 20\d\d-/);
    expect(stopped).toContain("Stopped (max-requests): the rest was not attempted");
    expect(await told("runs resume last")).toContain("Completed");
  });

  it("is refused, before a request, where it cannot be written", async () => {
    const { ecm, file, report } = await scene();
    await mkdir(report);
    const both = join(dirname(report), "both.html");
    const dry = (flags: string) => ecm(`import ${file} --dry-run ${flags}`);
    await refused(dry(`--report ${report}`), 2, "it is a folder");
    await refused(dry(`--report ${report.replace(".html", ".txt")}`), 2, "Name it");
    await refused(dry("--redact"), 2, "--report report.html");
    await refused(dry(`--report ${both} --rejects ${both}`), 2);
    expect((await readdir(dirname(report))).sort()).toEqual(["people.csv", "report.html"]);
  });
});

const summary: Summary = {
  run: "r",
  kind: "import",
  status: "stopped",
  file: "x",
  rows: { read: 9, created: 1, updated: 1, deleted: 1, unchanged: 1, skipped: 1, rejected: 1, pending: 1 },
  requests: { search: 0, create: 0, mutate: 0, other: 0, retried: 0, total: 0 },
  estimate: { requests: 0, seconds: 0 },
  rejects: null,
  stoppedBy: "error",
  codes: { skipped: {}, rejected: {} },
  inactive: 0,
  consent: { not_subscribed: 1, suppressed: 1, inactive: 1, marked: 1 },
};

/** A report in which everything that comes from a file or the service is this text. */
function readReport(text: string): string {
  const codes = { skipped: { [text]: 1 }, rejected: { [text]: 1 } };
  const columns = [{ name: text, target: { kind: "consent" } }];
  const head = { account: { baseUrl: text }, createdAt: "2026-11-22T10:00:00Z", table: { columns } };
  const line = { line: 3, key: text, contactId: null, code: text, message: text };
  const changes = (["create", "update", "delete"] as const).map((action) => ({
    ...{ ...line, action, code: null },
    changes: [
      { what: "field" as const, name: text, before: text, after: text },
      { what: "tag" as const, name: text, before: false, after: true },
    ],
  }));
  const creations = [{ what: "list", name: text }];
  const plan = { head, creations, changes, rejects: [line] } as unknown as SeenPlan;
  const at = new Date("2026-11-22T10:00:00Z");
  return formatReport({ summary: { ...summary, file: text, codes }, plan, at, isRedacted: false });
}

it("nothing from people's data is markup, whatever it is", () => {
  const toTags = (html: string) => html.match(/<[^>]*>/g);
  const tags = toTags(readReport("x"));
  const parts = "script style title onload= ]]> &#60; <!--".split(" ");
  const unit = fc.constantFrom(..."<>\"'`&=/!-x;{} \n\r\t\0\u202e\ud800", ...parts);
  const text = fc.oneof(fc.string({ unit }), anyText());
  const hostile = text.filter((each) => each !== "" && each !== "__proto__");
  fc.assert(
    fc.property(hostile, (each) => {
      const html = readReport(each);
      expect(toTags(html)).toEqual(tags);
      expect(html).not.toMatch(/[\0\u202e]/);
    }),
    { numRuns: runs(20) },
  );
});
