/**
 * The embedded service's speed, beside bare routes with the same validation, measured in turn in the same run.
 * Usage: npm run build && node bench/sandbox.mjs [--contacts 1000000] [--seconds 5] [--ratios]
 * --ratios measures creates, gets and searches only, and ends with their ratios as JSON.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "rolldown";
import { Pool } from "undici";
import { textFiles } from "../scripts/text-files.mjs";
import { measuring, middle, personAt, sandbox, seed, serve } from "./harness.mjs";

const connections = 16;
const { values } = parseArgs({
  options: {
    contacts: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "5" },
    ratios: { type: "boolean", default: false },
  },
});
const contactCount = Number(values.contacts);
const turns = Math.max(3, Number(values.seconds));

await measuring(async () => {
  const service = await sandbox();
  // Everyone in one list, every tenth in another.
  await seed(service, contactCount, (index) => ({
    ...personAt(index),
    lists: index % 10 === 0 ? ["Everyone", "A tenth"] : ["Everyone"],
  }));
  const ratios = await measureRequests(service, await startFloor());
  await service.stop();
  if (values.ratios) console.log(JSON.stringify(ratios));
  else await measureAdmin();
});

async function startFloor() {
  const file = fileURLToPath(new URL("../dist/bench/bare-routes.mjs", import.meta.url));
  await mkdir(join(file, ".."), { recursive: true });
  await build({
    input: fileURLToPath(new URL("bare-routes.ts", import.meta.url)),
    platform: "node",
    plugins: [textFiles],
    output: { file, format: "esm", codeSplitting: false },
  });
  const { line } = await serve([file], {});
  return line.trim();
}

async function measureRequests({ env }, floorUrl) {
  const headers = { "x-api-key": env.ECM_API_KEY, "content-type": "application/json" };
  const ours = makeCaller(env.ECM_BASE_URL, headers);
  const bare = makeCaller(floorUrl, headers);
  const [{ _id: contactStructureId }] = await ours({ method: "GET", path: "/api/contact-structure" });
  const lists = await ours({ method: "GET", path: `/api/contact-structure/${contactStructureId}/lists` });
  const { _id: tenth } = (lists.records ?? lists).find(({ name }) => name === "A tenth");
  let number = 0;
  const post = (path, body) => ({
    method: "POST",
    path,
    body: JSON.stringify({ contactStructureId, ...body }),
  });
  const create = () => post("/api/contact", { key: `new${number++}@example.com`, lists: [{ _id: tenth }] });
  const search = (values) =>
    post("/api/contact/search", {
      ...{ page: 1, pageSize: 100, source: ["_id", "key", "fields", "lists"] },
      contactSpecification: { filters: [{ criterias: [{ columnToFilter: "KEY", operator: "EQ", values }] }] },
    });
  const [one] = (await ours(search(["p0@example.com"]))).contacts;
  const get = (id) => () => ({ method: "GET", path: `/api/contact/${id}` });
  const hundred = Array.from({ length: 100 }, (_, index) => `p${index * 97}@example.com`);
  const ratios = {};
  for (const [name, make, makeBare] of [
    ["creates", create, create],
    ["gets", get(one._id), get("6b0133c7a7f4ce0e8d000004")],
  ]) {
    const [floor, rates] = await inTurn([
      [bare, makeBare],
      [ours, make],
    ]);
    ratios[name] = middle(rates.map((rate, turn) => rate / floor[turn]));
    row(name, `${middle(rates)}/s`, `floor ${middle(floor)}/s, ${ratios[name]} of it`);
  }
  const [searches] = await inTurn([[ours, () => search(hundred)]]);
  row("searches of 100 keys", `${middle(searches)}/s`);
  return { ...ratios, searches: middle(searches) };
}

/** What a test suite waits for, beside a plain health request over the same connection. */
async function measureAdmin() {
  const service = await sandbox();
  const call = makeCaller(service.env.ECM_BASE_URL, { "content-type": "application/json" });
  const timed = async (method, path, body) => {
    const start = performance.now();
    await call({ method, path: `/__sandbox/${path}`, body: body && JSON.stringify(body) });
    return performance.now() - start;
  };
  const contacts = Array.from({ length: 10_000 }, (_, index) => ({
    ...personAt(index),
    lists: ["Everyone"],
  }));
  const times = { health: [], seeding: [], "reset of 20 contacts": [], "reset of 10,000 contacts": [] };
  for (let count = 0; count < 200; count++) times.health.push(await timed("GET", "health"));
  for (let count = 0; count < 5; count++) {
    await timed("POST", "seed", { contacts: contacts.slice(0, 20) });
    times["reset of 20 contacts"].push(await timed("POST", "reset"));
    times.seeding.push(await timed("POST", "seed", { contacts }));
    times["reset of 10,000 contacts"].push(await timed("POST", "reset"));
  }
  for (const [name, each] of Object.entries(times)) {
    row(name, `${middle(each)} ms`, `${(middle(each) / middle(times.health)).toFixed(1)} health requests`);
  }
  await service.stop();
}

function makeCaller(baseUrl, headers) {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  return async (request) => {
    const { statusCode, body } = await pool.request({ headers, ...request });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${statusCode} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
}

/** Requests a second over all connections, of several in turn: what else the machine does meanwhile hits all. */
async function inTurn(subjects) {
  const rates = subjects.map(() => []);
  for (let turn = -1; turn < turns; turn++) {
    for (const [index, [call, make]] of subjects.entries()) {
      const start = performance.now();
      let count = 0;
      const work = async () => {
        for (; performance.now() < start + 1000; count++) await call(make());
      };
      await Promise.all(Array.from({ length: connections }, work));
      // The first turn warms up.
      if (turn >= 0) rates[index].push((count / (performance.now() - start)) * 1000);
    }
  }
  return rates;
}

function row(name, value, note = "") {
  console.log(`${name.padEnd(28)} ${value.padStart(14)}  ${note}`.trimEnd());
}
