/** The bare parts that others are measured beside: `node bench/floors.mjs create|read|export FILE`. */
import { once } from "node:events";
import { createReadStream, createWriteStream, readFileSync } from "node:fs";
import { parse } from "csv-parse";
import { Pool } from "undici";

const { ECM_BASE_URL, ECM_API_KEY } = process.env;
const headers = { "x-api-key": ECM_API_KEY, "content-type": "application/json" };
const [what, path] = process.argv.slice(2);
await { create, read, export: exported }[what]();

/** The rows of a file as bodies, sent by a bare undici loop of eight. */
async function create() {
  const pool = new Pool(ECM_BASE_URL, { connections: 8 });
  const [structure] = await getStructures(pool);
  const [first, last] = structure.fields;
  const lines = readFileSync(path, "utf8").trimEnd().split("\n").slice(1);
  let next = 0;
  const send = async () => {
    while (next < lines.length) {
      const [key, ...values] = lines[next++].split(",");
      const fields = [first, last].map(({ _id }, index) => ({ _id, value: values[index] }));
      const body = JSON.stringify({ key, contactStructureId: structure._id, fields });
      const answer = await pool.request({ method: "POST", path: "/api/contact", headers, body });
      await answer.body.json();
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
  await pool.close();
}

/** csv-parse over a file, and nothing done with the rows. */
async function read() {
  let rows = 0;
  for await (const _row of createReadStream(path).pipe(parse())) rows++;
  process.stdout.write(`${rows}\n`);
}

/** Every page is read, and its bytes are written. */
async function exported() {
  const pool = new Pool(ECM_BASE_URL, { connections: 1 });
  const [{ _id: contactStructureId }] = await getStructures(pool);
  const out = createWriteStream(path);
  const source = ["_id", "key", "fields", "lists", "tags", "contactStatus", "contactSubStatus", "createdAt"];
  for (let page = 1, left = 1; left > 0; page++) {
    const search = {
      contactStructureId,
      page,
      pageSize: 1000,
      source,
      contactSpecification: { filters: [] },
    };
    const body = JSON.stringify(search);
    const answer = await pool.request({ method: "POST", path: "/api/contact/search", headers, body });
    const text = await answer.body.text();
    left = JSON.parse(text).contacts.length;
    if (!out.write(text)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
  await pool.close();
}

async function getStructures(pool) {
  const { body } = await pool.request({ method: "GET", path: "/api/contact-structure", headers });
  return body.json();
}
