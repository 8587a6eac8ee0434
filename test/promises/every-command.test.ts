/** What every command promises: a new one meets it, or fails here with what to do. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { findFacts } from "../../src/commands/help/help-text.ts";
import type { LoggedRequest } from "../../src/sandbox/public-types.ts";
import { type Result, readJson, startSandbox, temporaryFolder, toWords } from "../kit.ts";
import { loadLeaves } from "../support/command-tree.ts";

/**
 * A line that does what the command is for, and how many requests it costs without remembered names. With `--yes` in
 * it, the command asks, and is refused where nobody can be asked.
 */
type Tried = [line: string, requests: number, stdin?: string];

/** Commands that give no JSON, and why. Each is held by a test of its own. */
const apart: Record<string, string> = {
  completion: "prints a script for a shell",
  mcp: "speaks a protocol until its client goes",
  "sandbox start": "serves until it is stopped",
  "sandbox exec": "prints what the command prints that it runs",
};

/**
 * In the order in which they are run, on one account. Folder and files: {people}, {keys}, {yaml}, {plan}, {data};
 * ids and addresses: {campaign}, {run}, {url}.
 */
const tried: Record<string, Tried> = {
  "structure list": ["", 1],
  "structure get": ["", 1],
  "structure update": ["--label Customers", 2],
  "structure field add": ["City", 2],
  "structure field rename": ["City Town", 2],
  "structure field remove": ["Town --yes", 2],
  "structure tag add": ["VIP", 2],
  "structure tag rename": ["VIP Gold", 2],
  "structure tag remove": ["Gold --yes", 2],
  "structure pull": ["", 1],
  "structure diff": ["{yaml}", 1],
  "structure apply": ["{yaml} --prune --yes", 2],
  "lists create": ["News", 3],
  "lists list": ["", 2],
  "lists show": ["News", 3],
  "lists rename": ["News Weekly", 3],
  "contact create": ["--key ada@example.com", 2],
  "contact get": ["ada@example.com", 3],
  "contact search": ["", 2],
  "contact mutate": ["ada@example.com --add-list Weekly", 4],
  import: ["{people}", 5],
  "contact unsubscribe": ["bob@example.com --yes", 4],
  "contact move": ["carl@example.com karl@example.com --yes", 7],
  "contact dossier": ["ada@example.com -o json", 5],
  "contact delete": ["karl@example.com --yes", 5],
  "contact erase": ["dora@example.com --yes", 3],
  export: ["", 3],
  events: ["", 1],
  "lists duplicate": ["Weekly Copy", 8],
  "lists merge": ["Weekly Copy --into Both", 10],
  "lists sync": ["Both {keys} --max-remove 100%", 3],
  "lists delete": ["Copy --yes", 3],
  "plan show": ["{plan}", 0],
  apply: ["{plan}", 3],
  "runs list": ["", 0],
  "runs show": ["last", 0],
  "runs rejects": ["{run}", 0],
  // Whose run is done is told so: exit 2.
  "runs resume": ["last", 0],
  "runs retry": ["{run} {people}", 2],
  "runs undo": ["last", 1],
  "runs remove": ["last --yes", 0],
  "campaigns list": ["", 1],
  "campaigns get": ["{campaign}", 1],
  "templates list": ["", 1],
  "domains list": ["", 1],
  "domains get": ["example.com", 1],
  "reports show": ["", 2],
  "reports campaign": ["{campaign}", 1],
  "reports histogram": ["--event email-sent", 1],
  "suppressions add": ["eve@example.com", 0],
  "suppressions list": ["", 0],
  "suppressions check": ["eve@example.com", 0],
  "suppressions remove": ["eve@example.com --yes", 0],
  api: ["POST /api/contact-structure/{structure}/lists -f name=Posted", 1],
  limits: ["--refresh", 1],
  doctor: ["", 1],
  commands: ["", 0],
  "auth login": ["--profile shop --base-url {url} --api-key-stdin", 1, "{key}"],
  "auth status": ["--profile shop", 1],
  "auth list": ["", 0],
  "auth use": ["shop", 0],
  "auth logout": ["shop", 0],
  "sandbox variants": ["", 0],
  "sandbox keys create": ["k --scope contacts:read --data {data}", 0],
  "sandbox keys list": ["--data {data}", 0],
  "sandbox keys deactivate": ["k --data {data}", 0],
  "sandbox keys activate": ["k --data {data}", 0],
  "sandbox keys regenerate": ["k --data {data} --yes", 0],
  "sandbox keys delete": ["k --data {data} --yes", 0],
  "sandbox account": ["--data {data}", 0],
  "sandbox requests": ["--data {data}", 0],
  "sandbox seed": ["--contacts 2 --data {data}", 0],
  "sandbox snapshot save": ["s --data {data}", 0],
  "sandbox snapshot load": ["s --data {data}", 0],
  "sandbox snapshot list": ["--data {data}", 0],
  "sandbox snapshot remove": ["s --data {data}", 0],
  "sandbox clock show": ["--data {data}", 0],
  "sandbox clock set": ["2030-01-01T00:00:00Z --data {data}", 0],
  "sandbox clock advance": ["1h --data {data}", 0],
  "sandbox clock real": ["--data {data}", 0],
  "sandbox reset": ["--data {data} --yes", 0],
  "sandbox clone": ["--data {data} --yes", 2],
};

let leaves: Awaited<ReturnType<typeof loadLeaves>>;

beforeAll(async () => {
  leaves = await loadLeaves();
});

/** Exit codes other than 0: of the first, one row of four is no address; what is done is not resumed. */
const exitCodesOf: Record<string, number> = { import: 3, "runs retry": 3, "runs resume": 2 };

async function startScene() {
  const folder = await temporaryFolder();
  const { ecm, sandbox, baseUrl, apiKey } = await startSandbox({
    contents: { campaigns: [{ name: "Spring", status: "sent" }], domains: [{ domain: "example.com" }] },
  });
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const names: Record<string, string> = {
    people: await file("people.csv", "Email\nbob@example.com\ncarl@example.com\ndora@example.com\nnobody\n"),
    keys: await file("keys.txt", "ada@example.com\n"),
    yaml: await file("structure.yaml", "fields:\n  - label: First Name\n  - label: Country\n"),
    plan: join(folder, "plan.ndjson"),
    data: join(folder, "data"),
    campaign: (await readJson(ecm, "campaigns list"))[0]._id,
    structure: (await readJson(ecm, "structure list"))[0]._id,
    url: baseUrl,
    key: apiKey,
  };
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (whole, name) => names[name] ?? whole);
  /** Without remembered names. */
  const run = async (line: string, stdin?: string) =>
    ecm(toWords(line).map(fill), {
      stdin: stdin === undefined ? undefined : fill(stdin),
      env: { ECM_CACHE_DIR: await temporaryFolder() },
    });
  const prepare = async (path: string) => {
    if (path === "plan show")
      await run("contact mutate --keys {keys} --set 'First Name=Ada' --dry-run --plan {plan}");
  };
  const remember = async (path: string) => {
    if (path === "import") names.run = JSON.parse((await run("runs list --json")).stdout)[0].run;
  };
  const all: LoggedRequest[] = [];
  const follow = sandbox.admin.requests.follow();
  /** Every request so far; what was read of the log is not read again. */
  const requests = () => {
    all.push(...follow(1000));
    return all;
  };
  const writes = () => requests().filter(({ method, path }) => method !== "GET" && !path.endsWith("/search"));
  return { run, prepare, remember, requests, writes };
}

/** What a request or a run would be. */
function expectDryRun({ code, stdout, stderr }: Result, path: string): void {
  expect(code, `${path}\n${stderr}`).toBe(exitCodesOf[path] ?? 0);
  if (stdout === "") return;
  const output = JSON.parse(stdout);
  if ("run" in output) {
    expect(output.status, path).toMatch(/dry-run|stopped/);
    return;
  }
  for (const request of [output].flat()) {
    expect(Object.keys(request), path).toEqual(["method", "path", "body"]);
    expect(request.method, path).toMatch(/^(POST|PUT|PATCH|DELETE)$/);
    expect(request.path, path).toMatch(/^\/api\//);
  }
}

describe("every command", () => {
  it("is tried here, or is named with the reason", () => {
    const paths = leaves.map(({ path }) => path);
    const known = [...Object.keys(tried), ...Object.keys(apart)];
    const missing = paths.filter((path) => !known.includes(path));
    const todo =
      "add a line to `tried` in this file, with what it costs in requests, so that it is run with --json; or to `apart`, with the reason";
    expect(missing, `ecm ${missing.join(", ecm ")}: ${todo}`).toEqual([]);
    expect(known.filter((path) => !paths.includes(path))).toEqual([]);
  });

  it("writes nothing in a dry run, asks before what cannot be undone, gives JSON, is silent with -q, and costs what the table says", async () => {
    const { run, prepare, remember, requests, writes } = await startScene();
    const counted: Record<string, number> = {};
    for (const [path, [line, , stdin]] of Object.entries(tried)) {
      await prepare(path);
      const facts = findFacts(leaves.find((each) => each.path === path)!.command);
      if (facts?.writes) {
        const before = writes().length;
        // A write would be refused too.
        expectDryRun(await run(`${path} ${line} --dry-run --json --read-only`, stdin), path);
        expect(writes().slice(before), `ecm ${path} --dry-run`).toEqual([]);
      }
      if (line.includes("--yes")) {
        // What goes with a file of the structure has to be looked up.
        const sent = path === "structure apply" ? writes : requests;
        const before = sent().length;
        const refused = await run(`${path} ${line.replace("--yes", "--json")}`, stdin);
        expect({ path, ...refused }).toMatchObject({ path, code: 2, stdout: "" });
        const { error } = JSON.parse(refused.stderr.trimEnd().split("\n").at(-1)!);
        const hint = expect.stringContaining("--yes");
        expect(error, path).toMatchObject({ type: "InputRequiredError", hint });
        expect(sent().length, path).toBe(before);
        expect(facts?.asks, `ecm ${path}: verb with asks`).toBeDefined();
      }
      const before = requests().length;
      const format = line.includes("-o ") ? "" : "--json";
      const { code, stdout, stderr } = await run(`${path} ${line} -q ${format}`, stdin);
      counted[path] = requests().length - before;
      const what = `ecm ${path} ${line}\n${stdout}${stderr}`;
      expect(code, what).toBe(exitCodesOf[path] ?? 0);
      expect(stdout === "" ? null : JSON.parse(stdout), what).toBeTypeOf("object");
      // Warnings stay, with what they list.
      if (code === 0) expect(stderr.replace(/^warning: .*\n(?: .*\n)*/gm, ""), path).toBe("");
      await remember(path);
    }
    const costs = Object.entries(tried).map(([path, [, cost]]) => [path, cost]);
    expect(counted).toEqual(Object.fromEntries(costs));
  });
});
