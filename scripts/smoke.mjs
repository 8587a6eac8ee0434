/**
 * Packs the project as it would be published, installs the tarball into an empty folder, looks at what
 * it brought, and does the main jobs there, as a user without rights and with an empty home: an import into
 * the embedded service, a search, and a request over HTTP; then once more with a home that cannot be written. `node scripts/smoke.mjs [NODE…]`: with other Node programs too; `--all`: with
 * every Node that is supported, fetched from the registry into a folder that is removed afterwards;
 * `--tarball FILE`: tries one that was packed before.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { fetchNode, supportedLines } from "./node-lines.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const largestMegabytes = 40;

/** Who uses what was installed: nobody, where this runs as root. */
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** What a test suite does with `ecm-cli/sandbox`. */
const suite = `
const sandbox = await startSandbox({ seed: 1 });
await sandbox.admin.seed({ contacts: [{ key: "ada@example.com", lists: ["News"] }] });
const headers = { "x-api-key": sandbox.apiKey };
const answer = await fetch(sandbox.baseUrl + "/api/contact-structure", { headers });
const [request] = await sandbox.admin.requests({ since: 0 });
if (answer.status !== 200 || request?.path !== "/api/contact-structure") throw new Error("no answer, or no log");
await sandbox.stop();
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { all: { type: "boolean" }, tarball: { type: "string" } },
});
const folder = mkdtempSync(join(tmpdir(), "ecm-smoke-"));
chmodSync(folder, 0o755);
try {
  const home = join(folder, "installed");
  install(home, values.tarball === undefined ? pack() : resolve(values.tarball));
  inspect(home);
  checkLinks(join(home, "node_modules/ecm-cli"));
  checkTypes(home);
  const others = values.all
    ? supportedLines.map((line) => fetchNode(line, folder))
    : positionals.map((each) => resolve(each));
  for (const node of [process.execPath, ...others]) {
    work(node, home);
    workWithReadOnlyHome(node, home);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The tarball's path. */
function pack() {
  const words = ["pack", "--silent", "--pack-destination", folder];
  const packed = execFileSync("npm", words, { cwd: root, encoding: "utf8" });
  return join(folder, packed.trim().split("\n").at(-1));
}

function install(prefix, what) {
  execFileSync("npm", ["install", "--silent", "--ignore-scripts", "--prefix", prefix, what], {
    cwd: folder,
    stdio: "inherit",
  });
}

/** Nothing runs when it is installed, and it stays small. */
function inspect(home) {
  let bytes = 0;
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) bytes += statSync(path).size;
    if (entry.name !== "package.json") continue;
    const { scripts = {} } = JSON.parse(readFileSync(path, "utf8"));
    const atInstall = ["preinstall", "install", "postinstall"].filter((name) => name in scripts);
    assert.deepEqual(atInstall, [], `${path} runs a script when it is installed`);
  }
  const megabytes = bytes / 1e6;
  assert.ok(megabytes <= largestMegabytes, `${megabytes.toFixed(1)} MB installed`);
  console.log(`${megabytes.toFixed(1)} MB installed, no script at install`);
  const notices = readFileSync(join(home, "node_modules/ecm-cli/dist/LICENSES.txt"), "utf8");
  const each = notices.split(`\n${"-".repeat(80)}\n\n`);
  const names = each.map((notice) => notice.slice(0, notice.indexOf(" ")));
  assert.ok(names.includes("csv-parse") && !names.includes("vitest"), "the bundled packages");
  const unlicensed = each.filter(
    (notice) => !/permission|redistribut|licen[cs]e/i.test(notice.slice(notice.indexOf("\n"))),
  );
  assert.deepEqual(unlicensed, [], "bundled packages without their licence");
  console.log(`${names.length} packages are bundled, with their licences`);
}

/** What the pages of the package refer to is in the package. */
function checkLinks(root) {
  const pages = readdirSync(root, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith(".md") && !path.includes("node_modules"));
  const missing = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), "utf8");
    const links = Array.from(text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g), ([, link]) => link);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));
    return local
      .filter((link) => !existsSync(join(root, dirname(page), link)))
      .map((link) => `${page}: ${link}`);
  });
  assert.deepEqual(missing, [], "links of the package that lead nowhere");
  assert.ok(pages.includes("docs/sandbox.md") && pages.length > 10, "the package has its documents");
  console.log(`the links of ${pages.length} pages resolve`);
}

/** `ecm-cli/sandbox` has types, for modules of either kind and in each way of finding them. */
function checkTypes(home) {
  const sources = {
    "suite.mts": `import { startSandbox, type StartedSandbox, type Admin } from "ecm-cli/sandbox";
const sandbox: StartedSandbox = await startSandbox({ hourlyLimit: 5 });
const admin: Admin = sandbox.admin;
const key: string = (await admin.events({ key: "a@b.co", type: "opened" })).contact.key;
const n: number | undefined = (await admin.requests({ status: "4xx" }))[0]?.n;
// @ts-expect-error: no such option
await startSandbox({ hourly: 5 });
export { key, n };`,
    "suite.cts": `import sandbox = require("ecm-cli/sandbox");
export const started: Promise<sandbox.StartedSandbox> = sandbox.startSandbox();`,
  };
  const node10 = `import { startSandbox, type StartedSandbox } from "ecm-cli/sandbox";
export const started: Promise<StartedSandbox> = startSandbox({ seed: 1 });
export const stopped: Promise<void> = started.then((sandbox) => sandbox[Symbol.asyncDispose]());`;
  for (const [name, text] of Object.entries({ ...sources, "suite.ts": node10 })) {
    writeFileSync(join(home, name), text);
  }
  const compile = (compiler, module, resolution, files) => {
    const compilerOptions = { noEmit: true, strict: true, target: "es2023", types: [], module };
    if (resolution) compilerOptions.moduleResolution = resolution;
    writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    execFileSync(process.execPath, [join(compiler, "bin/tsc"), "-p", home], { stdio: "inherit" });
  };
  const today = join(root, "node_modules/typescript");
  compile(today, "nodenext", undefined, Object.keys(sources));
  compile(today, "esnext", "bundler", ["suite.ts"]);
  // The last compiler that finds modules as Node 10 did.
  const older = join(folder, "compiler");
  install(older, "typescript@5.9");
  compile(join(older, "node_modules/typescript"), "commonjs", "node10", ["suite.ts"]);
  compile(join(older, "node_modules/typescript"), "nodenext", undefined, Object.keys(sources));
  console.log("ecm-cli/sandbox has types for import and require, and for moduleResolution node10");
}

/** A folder that is the user's own. */
function makeHome() {
  const own = mkdtempSync(join(folder, "home-"));
  if (user.uid !== undefined) chownSync(own, user.uid, user.gid);
  return own;
}

function invoke(node, program, args, cwd, env) {
  return spawnSync(node, [program, ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
  });
}

/** Without a place to write, a refusal that names the variable for another; with one, the work is done. */
function workWithReadOnlyHome(node, home) {
  const program = join(home, "node_modules/ecm-cli/bin/ecm.js");
  const closed = makeHome();
  chmodSync(closed, 0o555);
  const search = ["--profile", "sandbox", "contact", "search", "--count"];
  const refused = invoke(node, program, search, folder, { HOME: closed });
  assert.equal(refused.status, 2, refused.stderr);
  assert.match(refused.stderr, /permission denied.*\nhint: .*ECM_STATE_DIR/);
  const allowed = invoke(node, program, search, folder, { HOME: closed, ECM_STATE_DIR: makeHome() });
  assert.deepEqual([allowed.status, allowed.stdout], [0, "0\n"], allowed.stderr);
  assert.deepEqual(readdirSync(closed), []);
}

function work(node, home) {
  const program = join(home, "node_modules/ecm-cli/bin/ecm.js");
  const own = makeHome();
  const ecm = (...args) => {
    const { status, stdout, stderr } = invoke(node, program, args, own, { HOME: own });
    assert.equal(status, 0, `ecm ${args.join(" ")}: ${stderr}`);
    assert.doesNotMatch(stderr, /warning|deprecat/i);
    return stdout;
  };
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(ecm("--version"), `${version}\n`);
  assert.match(ecm("--help"), /ecm/);
  assert.equal(ecm("__complete", "zsh", "--", "contact", "sea").split("\t")[0], "search");

  writeFileSync(
    join(own, "people.csv"),
    "Email,First Name,Last Name\nada@example.com,Ada,Lovelace\nhana@example.com,花,山田\n",
  );
  const summary = JSON.parse(ecm("--profile", "sandbox", "import", "people.csv", "--json"));
  assert.equal(summary.rows.created, 2);
  const table = ecm("--profile", "sandbox", "contact", "search", "-o", "table");
  assert.match(table, /^ada@example\.com {3}Ada {9}Lovelace .*\nhana@example\.com {2}花 {10}山田 /m);

  const overHttp = ["sandbox", "exec", "--data", join(own, "data"), "--", node, program];
  const list = JSON.parse(ecm(...overHttp, "lists", "create", "Newsletter", "--json"));
  const lists = JSON.parse(ecm(...overHttp, "lists", "list", "--json"));
  assert.deepEqual([lists.length, lists[0]._id], [1, list._id]);

  writeFileSync(join(home, "suite.mjs"), `import { startSandbox } from "ecm-cli/sandbox";\n${suite}`);
  writeFileSync(
    join(home, "suite.cjs"),
    `const { startSandbox } = require("ecm-cli/sandbox");\n(async () => {${suite}})();`,
  );
  for (const file of ["suite.mjs", "suite.cjs"]) execFileSync(node, [file], { cwd: home, stdio: "inherit" });
  console.log(`works on Node ${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}`);
}
