/** The floor of an export: every page is read, and its bytes are written. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { Pool } from "undici";

const { ECM_BASE_URL, ECM_API_KEY } = process.env;
const pool = new Pool(ECM_BASE_URL, { connections: 1 });
const headers = { "x-api-key": ECM_API_KEY, "content-type": "application/json" };
const structures = await pool.request({ method: "GET", path: "/api/contact-structure", headers });
const [{ _id: contactStructureId }] = await structures.body.json();
const out = createWriteStream(process.argv[2]);

for (let page = 1, left = 1; left > 0; page++) {
  const answer = await pool.request({
    method: "POST",
    path: "/api/contact/search",
    headers,
    body: JSON.stringify({
      contactStructureId,
      page,
      pageSize: 1000,
      source: ["_id", "key", "fields", "lists", "tags", "contactStatus", "contactSubStatus", "createdAt"],
      contactSpecification: { filters: [] },
    }),
  });
  const text = await answer.body.text();
  left = JSON.parse(text).contacts.length;
  if (!out.write(text)) await once(out, "drain");
}
out.end();
await once(out, "finish");
await pool.close();
