/**
 * What each command costs in requests, with names that an earlier command saw and without, and how long it
 * takes. Usage: npm run build && node bench/costs.mjs
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const program = new URL("../bin/ecm.js", import.meta.url).pathname;
const home = mkdtempSync(join(tmpdir(), "ecm-bench-costs-"));
const folders = {
  ECM_CONFIG_DIR: join(home, "config"),
  ECM_STATE_DIR: join(home, "state"),
  ECM_CACHE_DIR: join(home, "cache"),
};
const sandbox = spawn(process.execPath, [program, "sandbox", "start", "--data", join(home, "data")], {
  env: { PATH: process.env.PATH, ...folders },
  stdio: ["ignore", "pipe", "inherit"],
});
const [line] = await once(sandbox.stdout.setEncoding("utf8"), "data");
const { baseUrl, apiKey } = JSON.parse(line);
const env = { PATH: process.env.PATH, ...folders, ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey };

function ecm(args, more = {}) {
  const start = performance.now();
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
    env: { ...env, ...more },
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
  return { stdout, milliseconds: performance.now() - start };
}

async function used() {
  const { headers } = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": apiKey } });
  return Number(headers.get("x-ratelimit-limit")) - Number(headers.get("x-ratelimit-remaining"));
}

async function cost(args, more) {
  const before = await used();
  const { milliseconds } = ecm(args, more);
  return `${(await used()) - before - 1} (${Math.round(milliseconds)} ms)`;
}

try {
  ecm(["lists", "create", "Newsletter"]);
  ecm(["structure", "field", "add", "City"]);
  const key = "ada@example.com";
  const { _id: id } = JSON.parse(
    ecm(["contact", "create", "--key", key, "--list", "Newsletter", "--json"]).stdout,
  );
  const change = (city) => ["contact", "mutate", key, "--set", `City=${city}`, "--add-list", "Newsletter"];
  const rows = [
    ["contact get ID", () => ["contact", "get", id, "--json"]],
    ["contact get ID (table)", () => ["contact", "get", id, "-o", "table"]],
    ["contact get KEY", () => ["contact", "get", key, "--json"]],
    ["contact get KEY (table)", () => ["contact", "get", key, "-o", "table"]],
    ["contact search", () => ["contact", "search", "--json"]],
    ["contact search (table)", () => ["contact", "search", "-o", "table"]],
    [
      "contact create",
      (turn) => ["contact", "create", "--key", `${turn}@example.com`, "--list", "Newsletter"],
    ],
    ["contact mutate KEY", (turn) => change(`City ${turn}`)],
    ["contact mutate KEY (unchanged)", () => change("City 1")],
    ["lists list", () => ["lists", "list"]],
  ];
  console.log("| command | remembered | without |\n| --- | --- | --- |");
  for (const [name, args] of rows) {
    const without = await cost(args(0), { ECM_CACHE_DIR: join(home, `cache-${Math.random()}`) });
    ecm(["contact", "search", "-o", "table"]);
    console.log(`| ${name} | ${await cost(args(1))} | ${without} |`);
  }
} finally {
  sandbox.kill("SIGTERM");
  await once(sandbox, "exit");
  rmSync(home, { recursive: true, force: true });
}
