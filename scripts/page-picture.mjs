/**
 * Draws docs/pictures/sandbox.png: the page of a sandbox, in a browser.
 * Usage: node scripts/page-picture.mjs [CHROMIUM]
 */
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startSandbox } from "../dist/sandbox.cjs";

const target = fileURLToPath(new URL("../docs/pictures/sandbox.png", import.meta.url));
const sandbox = await startSandbox({ hourlyLimit: 3600, monthlyLimit: 100_000, seed: 1 });
const browser = await chromium.launch({
  executablePath: process.argv[2] ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  const { admin, structureId } = sandbox;
  await admin.clock({ time: "2026-11-21T14:03:20Z" });
  await admin.seed({
    lists: ["Customers", "Newsletter"],
    contacts: [
      {
        key: "ada@example.com",
        fields: { "First Name": "Ada", City: "London" },
        lists: ["Newsletter"],
        tags: ["VIP"],
      },
      { key: "jonas@example.com", fields: { "First Name": "Jonas" }, status: "Unsubscribe" },
    ],
  });
  await admin.limits({ used: { hour: 412, month: 23_108 } });
  const call = (method, path, body) =>
    fetch(sandbox.baseUrl + path, {
      method,
      headers: { "x-api-key": sandbox.apiKey, "content-type": "application/json" },
      body: body && JSON.stringify(body),
    });
  const create = () =>
    call("POST", "/api/contact", { key: "grace@example.com", contactStructureId: structureId });
  await call("GET", "/api/contact-structure");
  await admin.faults(["503:POST:/api/contact:n=1"]);
  await create();
  await create();
  await create();
  const page = await browser.newPage({ viewport: { width: 920, height: 660 } });
  await page.goto(`${sandbox.baseUrl}/__sandbox/`);
  await page.getByText("Live").waitFor();
  await page.locator("summary").first().waitFor();
  await page.screenshot({ path: target });
} finally {
  await browser.close();
  await sandbox.stop();
}
