/** The floor of writing: the rows of a file as bodies, sent by a bare undici loop of eight. */
import { readFileSync } from "node:fs";
import { Pool } from "undici";

const { ECM_BASE_URL, ECM_API_KEY } = process.env;
const pool = new Pool(ECM_BASE_URL, { connections: 8 });
const headers = { "x-api-key": ECM_API_KEY, "content-type": "application/json" };
const { body } = await pool.request({ method: "GET", path: "/api/contact-structure", headers });
const [structure] = await body.json();
const [first, last] = structure.fields;
const lines = readFileSync(process.argv[2], "utf8").trimEnd().split("\n").slice(1);
let next = 0;

async function send() {
  while (next < lines.length) {
    const [key, ...values] = lines[next++].split(",");
    const fields = [first, last].map(({ _id }, index) => ({ _id, value: values[index] }));
    const contact = { key, contactStructureId: structure._id, fields };
    const answer = await pool.request({
      method: "POST",
      path: "/api/contact",
      headers,
      body: JSON.stringify(contact),
    });
    await answer.body.json();
  }
}

await Promise.all(Array.from({ length: 8 }, send));
await pool.close();
