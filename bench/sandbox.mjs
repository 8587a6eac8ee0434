/**
 * The embedded service's speed, beside a floor measured in the same run: a bare hono route with the same
 * validation. Usage: node bench/sandbox.mjs [--contacts 1000000] [--seconds 5] [--ratios]
 * --ratios measures creates, gets and searches only, and ends with their ratios as JSON.
 */
import { fork } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { Pool } from "undici";
import { textFiles } from "../scripts/text-files.mjs";

const connections = 16;
const sliceMilliseconds = 1000;
const bundle = fileURLToPath(new URL("../dist/bench/sandbox.mjs", import.meta.url));
const { values } = parseArgs({
  options: {
    contacts: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "5" },
    ratios: { type: "boolean", default: false },
  },
});
const contactCount = Number(values.contacts);
const seconds = Number(values.seconds);

if (process.send) await serve();
else await measure();

/** The served side, in a process of its own. */
async function serve() {
  const { openSandbox, Hono, createAdaptorServer, check, createContact } = await import(
    pathToFileURL(bundle)
  );
  const folder = process.env.BENCH_FOLDER;
  const sandbox = await openSandbox({ folder, hourlyLimit: 1e9, monthlyLimit: 1e9 });
  const { baseUrl } = await sandbox.serve({ host: "127.0.0.1", port: 0 });
  const bare = new Hono();
  bare.post("/api/contact", async (context) =>
    context.json({ ...check(createContact, await context.req.json()), _id: "6b0133c7a7f4ce0e8d000004" }),
  );
  bare.get("/api/contact/:id", (context) => context.json({ _id: context.req.param("id"), key: "a@b.co" }));
  const floor = createAdaptorServer({ fetch: bare.fetch }).listen(0, "127.0.0.1", () =>
    process.send({
      baseUrl,
      floorUrl: `http://127.0.0.1:${floor.address().port}`,
      apiKey: sandbox.ownKey(),
      structureId: sandbox.structureId,
    }),
  );
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send({ rss: process.memoryUsage.rss(), cpuMicroseconds: user + system });
  });
  process.on("disconnect", () => process.exit());
}

async function measure() {
  await mkdir(join(bundle, ".."), { recursive: true });
  await build({
    input: fileURLToPath(new URL("sandbox-parts.ts", import.meta.url)),
    platform: "node",
    external: ["libsql"],
    plugins: [textFiles],
    output: { file: bundle, format: "esm", codeSplitting: false },
  });
  const folder = await mkdtemp(join(tmpdir(), "ecm-bench-"));
  try {
    const listIds = await fill(folder);
    await withServer(folder, (server) => run(server, listIds));
    if (!values.ratios) await measureAdmin();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Contacts straight into the store: everyone in one list, every tenth in another. */
async function fill(folder) {
  const { openStore } = await import(pathToFileURL(bundle));
  const now = Date.now();
  const store = await openStore(folder, now);
  const structure = store.structures.all()[0];
  const start = performance.now();
  const lists = store.database.transaction(() => {
    const ids = store.newIds(now, 2);
    for (const _id of ids) store.lists.add(structure._id, { _id, name: `list ${_id}`, now });
    return ids;
  });
  for (let from = 0; from < contactCount; from += 10_000) {
    store.database.transaction(() => {
      const ids = store.newIds(now, Math.min(10_000, contactCount - from));
      for (const [index, id] of ids.entries()) {
        const number = from + index;
        store.contacts.add({
          id,
          structureId: structure._id,
          key: `person${number}@example.com`,
          fields: [{ _id: structure.fields[0]._id, value: `Person ${number}` }],
          lists: number % 10 === 0 ? lists : lists.slice(0, 1),
          tags: [],
          status: { primary: "active", secondary: "confirmed" },
          createdAt: now,
          updatedAt: now,
          version: 0,
        });
      }
    });
  }
  store.database.close();
  row(`filled ${contactCount} contacts`, `${((performance.now() - start) / 1000).toFixed(1)} s`);
  return lists;
}

/** What a test suite waits for, each beside a plain health request over the same connection. */
async function measureAdmin() {
  const { startSandbox } = await import(pathToFileURL(bundle));
  const starts = [];
  for (let count = 0; count < 10; count++) {
    const start = performance.now();
    const sandbox = await startSandbox();
    starts.push(performance.now() - start);
    await sandbox.stop();
  }
  row(
    "startSandbox, the first",
    `${starts[0].toFixed(1)} ms`,
    `then ${median(starts.slice(1))} ms; 100 ms allowed`,
  );

  const sandbox = await startSandbox();
  const call = makeCaller(sandbox.baseUrl, { "content-type": "application/json" }, 1);
  const admin = (method, path, body) =>
    call({ method, path: `/__sandbox/${path}`, body: body && JSON.stringify(body) });
  const timed = async (act) => {
    const start = performance.now();
    await act();
    return performance.now() - start;
  };
  const contacts = Array.from({ length: 10_000 }, (_, number) => ({
    key: `person${number}@example.com`,
    fields: { "First Name": `Person ${number}` },
    lists: ["Everyone"],
    tags: [number % 2 ? "odd" : "even"],
  }));
  const [healths, small, large, seeds] = [[], [], [], []];
  for (let count = 0; count < 200; count++) await admin("GET", "health");
  for (let count = 0; count < 30; count++) {
    for (let time = 0; time < 10; time++) healths.push(await timed(() => admin("GET", "health")));
    await admin("POST", "seed", { contacts: contacts.slice(0, 20) });
    small.push(await timed(() => admin("POST", "reset")));
  }
  for (let count = 0; count < 5; count++) {
    seeds.push(await timed(() => admin("POST", "seed", { contacts })));
    large.push(await timed(() => admin("POST", "reset")));
  }
  const times = (values) => `${(median(values) / median(healths)).toFixed(1)} of it; 15 allowed`;
  row("health", `${median(healths)} ms`);
  row("reset of 20 contacts", `${median(small)} ms`, times(small));
  row("reset of 10,000 contacts", `${median(large)} ms`, times(large));
  await measureWorlds(admin, timed, contacts.slice(0, 20));
  row("seeding 10,000 contacts", `${median(seeds)} ms`, "1,000 ms allowed");

  await sandbox.stop();
}

/** A hundred worlds that stay open, half of them from a snapshot of a small account. */
async function measureWorlds(admin, timed, contacts) {
  await admin("POST", "reset");
  await admin("POST", "seed", { contacts });
  await admin("PUT", "snapshots/small");
  const [empty, full, beside] = [[], [], []];
  for (let count = 0; count < 50; count++) {
    for (let time = 0; time < 10; time++) beside.push(await timed(() => admin("GET", "health")));
    empty.push(await timed(() => admin("POST", "worlds", {})));
    full.push(await timed(() => admin("POST", "worlds", { from: "small" })));
  }
  const times = (values) => `${(median(values) / median(beside)).toFixed(1)} health requests; 20 allowed`;
  row("a world", `${median(empty)} ms`, times(empty));
  row("a world from a snapshot of 20 contacts", `${median(full)} ms`, times(full));
}

async function withServer(folder, work) {
  const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, BENCH_FOLDER: folder } });
  try {
    const server = await new Promise((resolve) => child.once("message", resolve));
    server.used = () =>
      new Promise((resolve) => {
        child.once("message", resolve);
        child.send("used");
      });
    server.rss = async () => Math.round((await server.used()).rss / 2 ** 20);
    await work(server);
  } finally {
    child.kill("SIGKILL");
  }
}

async function run(server, [everyone, aTenth]) {
  const { structureId, apiKey } = server;
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const sandbox = makeCaller(server.baseUrl, headers);
  const bare = makeCaller(server.floorUrl, headers);
  let number = 0;
  const create = () => ({
    method: "POST",
    path: "/api/contact",
    body: JSON.stringify({
      key: `new${number++}@example.com`,
      contactStructureId: structureId,
      lists: [{ _id: aTenth }],
    }),
  });
  const search = (criterias, page, pageSize) => ({
    method: "POST",
    path: "/api/contact/search",
    body: JSON.stringify({
      contactStructureId: structureId,
      page,
      pageSize,
      source: ["_id", "key", "fields", "lists"],
      contactSpecification: { filters: [{ criterias }] },
    }),
  });
  const inList = (listId) => [{ columnToFilter: "LIST_ID", operator: "EQ", values: [listId] }];

  const one = JSON.parse(await sandbox(search(inList(everyone), 500, 1))).contacts[0];
  const get = () => ({ method: "GET", path: `/api/contact/${one._id}` });
  const bareGet = () => ({ method: "GET", path: "/api/contact/6b0133c7a7f4ce0e8d000004" });
  const ratios = {};
  for (const [name, make, makeBare] of [
    ["creates", create, create],
    ["gets", get, bareGet],
  ]) {
    const [floor, logged] = await inTurn(server, [
      [bare, makeBare],
      [sandbox, make],
    ]);
    ratios[name] = Number(ratio(logged.rates, floor.rates));
    row(
      name,
      `${logged.rate}/s`,
      `floor ${floor.rate}/s, ${ratio(logged.rates, floor.rates)} of it; CPU ${logged.cpu} µs each, floor ${floor.cpu}`,
    );
  }

  const hundred = Array.from({ length: 100 }, (_, index) => `person${index * 97}@example.com`);
  const searchKeys = () => search([{ columnToFilter: "KEY", operator: "EQ", values: hundred }], 1, 100);
  const [keys] = await inTurn(server, [[sandbox, searchKeys]]);
  row("searches of 100 keys", `${keys.rate}/s`, `CPU ${keys.cpu} µs each`);
  if (values.ratios) {
    console.log(JSON.stringify({ ...ratios, searches: keys.rate }));
    return;
  }

  const pages = Math.floor(contactCount / 1000);
  const before = await server.rss();
  const times = [];
  for (let page = 1; page <= pages; page++) {
    const start = performance.now();
    const found = JSON.parse(await sandbox(search(inList(everyone), page, 1000)));
    if (found.contacts.length !== 1000) throw new Error(`page ${page}: ${found.contacts.length}`);
    times.push(performance.now() - start);
  }
  const tenth = Math.max(1, Math.floor(pages / 10));
  row(`${pages} pages of 1,000 from a list, first tenth`, `${median(times.slice(0, tenth))} ms a page`);
  row(`${pages} pages of 1,000 from a list, last tenth`, `${median(times.slice(-tenth))} ms a page`);
  const jumps = [];
  for (let count = 0; count < 50; count++) {
    const start = performance.now();
    await sandbox(search(inList(aTenth), 1 + Math.floor((Math.random() * contactCount) / 1000), 100));
    jumps.push(performance.now() - start);
  }
  row(
    "pages of 100 from another list, at random",
    `${median(jumps)} ms a page, slowest ${Math.max(...jumps).toFixed(1)}`,
  );
  const both = [];
  for (let page = 1; page <= Math.min(50, pages / 10); page++) {
    const start = performance.now();
    await sandbox(search([...inList(everyone), ...inList(aTenth)], page, 1000));
    both.push(performance.now() - start);
  }
  row("pages of 1,000 in both lists", `${median(both)} ms a page, the first ${both[0].toFixed(1)}`);
  row("memory of the server", `${before} MiB before paging, ${await server.rss()} MiB after`);
}

function makeCaller(baseUrl, headers, most = connections) {
  const pool = new Pool(baseUrl, { connections: most, pipelining: 1 });
  return async (request) => {
    const { statusCode, body } = await pool.request({ headers, ...request });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${statusCode} ${text}`);
    return text;
  };
}

/**
 * Requests a second over all connections, and the server's CPU for each, of several in turn: what else the
 * machine does meanwhile hits all of them.
 */
async function inTurn(server, subjects) {
  const results = subjects.map(() => ({ rates: [], cpus: [] }));
  const turns = Math.max(3, Math.round((seconds * 1000) / sliceMilliseconds));
  for (let turn = -1; turn < turns; turn++) {
    for (const [index, [call, make]] of subjects.entries()) {
      const { cpuMicroseconds: before } = await server.used();
      const start = performance.now();
      const end = start + sliceMilliseconds;
      let count = 0;
      await Promise.all(
        Array.from({ length: connections }, async () => {
          while (performance.now() < end) {
            await call(make());
            count += 1;
          }
        }),
      );
      const rate = (count / (performance.now() - start)) * 1000;
      const { cpuMicroseconds: after } = await server.used();
      // The first turn warms up.
      if (turn < 0) continue;
      results[index].rates.push(rate);
      results[index].cpus.push((after - before) / count);
    }
  }
  return results.map(({ rates, cpus }) => ({
    rates,
    rate: Math.round(median(rates)),
    cpu: Math.round(median(cpus)),
  }));
}

/** Turn by turn. */
function ratio(ours, theirs) {
  return median(ours.map((rate, turn) => rate / theirs[turn]));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)].toFixed(2);
}

function row(name, value, note = "") {
  console.log(`${name.padEnd(48)} ${value.padStart(14)}  ${note}`.trimEnd());
}
