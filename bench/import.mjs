/**
 * The bulk engine: requests, estimates, memory, CPU and use of the budget, each beside what it is held against.
 * Usage: node scripts/build.mjs && node bench/import.mjs [requests] [memory] [cpu] [budget]
 */
import { fileURLToPath } from "node:url";
import { Pool } from "undici";
import { ecm, measuring, median, people, personAt, report, round, run, sandbox, seed } from "./harness.mjs";

const csvLoop = fileURLToPath(new URL("./csv-loop.mjs", import.meta.url));
const wanted = process.argv.slice(2);
const parts = { requests, memory, cpu, budget };
/** How the service may decide what its documents leave open (`ecm sandbox variants`). */
const variants = [
  "keys=any",
  "keys=refused",
  "keys=first",
  "max-keys=20",
  "page=cap:100",
  "page=refuse:300",
  "lists=array",
  "created=201",
  "mutate-elements=object",
  "mutate-elements=id",
  "mutate-answer=empty",
  "mutate-answer=other",
  "noop=NoChangesError",
  "search-lag=30000",
  "key-case=exact",
  "inactive=hidden",
  "structures=slim",
  "status=object",
  "unknown-members=ignore",
  "hourly-headers=missing",
];

await measuring(async () => {
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length === 0 || wanted.includes(name)) await measure();
  }
});

/** Fewest requests, and what was said before against what was sent. */
async function requests() {
  const service = await sandbox();
  const rows = 10_000;
  const fresh = await people(rows, "fresh.csv");
  const tenth = await people(rows, "tenth.csv", (index) => (index % 10 === 0 ? "Changed" : `First ${index}`));
  for (const [what, file, most] of [
    [`${rows} new rows`, fresh, rows + 150],
    [`${rows} unchanged rows`, fresh, 30],
    [`${rows} rows, a tenth changed`, tenth, rows / 10 + 150],
  ]) {
    const dry = await ecm(["import", file, "--dry-run", "--json"], service);
    const real = await ecm(["import", file, "--json"], service);
    const { total, create, mutate } = real.summary.requests;
    report(what, total, `requests (${create} creates, ${mutate} mutates)`, total <= most, `at most ${most}`);
    const said = dry.summary.estimate.requests;
    report(
      "  its dry run said",
      said,
      "requests",
      said >= total && said <= total * 1.02,
      "within 2 %, never below",
    );
  }
  await service.stop();
  for (const variant of variants) await requestsWith(variant);
}

/** A thousand unchanged rows in an account of five thousand: the first time, and when the service is known. */
async function requestsWith(variant) {
  const service = await sandbox(["--hourly-limit", "1000000000", "--variant", variant]);
  await seed(service, 5000, personAt);
  const file = await people(1000, "thousand.csv");
  const state = `state-${variant}`;
  for (const what of ["first", "again"]) {
    const { summary } = await ecm(["import", file, "--json"], service, state);
    const { total, create, mutate } = summary.requests;
    const isGood = total <= 20 && create + mutate === 0 && summary.rows.unchanged === 1000;
    report(`1000 of 5000 unchanged, ${variant}, ${what}`, total, "requests", isGood, "at most 20, no writes");
  }
  await service.stop();
}

/** A dry run over a million rows against csv-parse alone; and the memory of ten thousand. */
async function memory() {
  const service = await sandbox();
  const large = await people(1_000_000, "large.csv");
  const small = await people(10_000, "small.csv");
  const bare = await run([csvLoop, large], service);
  const whole = await median(() => ecm(["import", large, "--dry-run", "--json"], service), "peakMib");
  const few = await median(() => ecm(["import", small, "--dry-run", "--json"], service), "peakMib");
  report("csv-parse alone, a million rows", bare.seconds, "s", true, "");
  report(
    "dry run of a million rows",
    whole.seconds,
    "s",
    true,
    `${round(whole.cpuSeconds / bare.cpuSeconds)} times the CPU`,
  );
  report("  its peak memory", whole.peakMib, "MiB", whole.peakMib <= 150, "at most 150");
  const ratio = whole.peakMib / few.peakMib;
  report(
    "  against ten thousand rows",
    ratio,
    `times (${round(few.peakMib)} MiB)`,
    ratio <= 1.2,
    "at most 1.2",
  );
  await service.stop();
}

/** CPU of writing every row, against a loop that does nothing but send the same bodies. */
async function cpu() {
  const rows = 10_000;
  const file = await people(rows, "written.csv");
  const first = await sandbox();
  const real = await ecm(["import", file, "--json"], first);
  await first.stop();
  const second = await sandbox();
  const before = process.cpuUsage();
  await bareLoop(second, rows);
  const { user, system } = process.cpuUsage(before);
  await second.stop();
  const bare = (user + system) / rows;
  const ours = (real.cpuSeconds * 1e6) / rows;
  report("CPU of a written row", ours, "µs", true, "");
  report("  against a bare undici loop", ours / bare, `times (${round(bare)} µs)`, true, "");
}

/** How much of each window a long run uses, alone and beside another, and how many 429s that costs. */
async function budget() {
  for (const runs of [1, 2]) {
    const limit = 600;
    const windowSeconds = 10;
    const service = await sandbox(["--hourly-limit", String(limit), "--window", String(windowSeconds)]);
    const files = await Promise.all(
      Array.from({ length: runs }, (_, run) =>
        people((limit * 3.5) / runs, `run${run}.csv`, (index) => `R${run} ${index}`, `r${run}-`),
      ),
    );
    const started = Date.now();
    const results = await Promise.all(
      files.map((file, run) => ecm(["import", file, "--json"], service, `state${run}`)),
    );
    const seconds = (Date.now() - started) / 1000;
    const total = results.reduce((sum, { summary }) => sum + summary.requests.total, 0);
    const retried = results.reduce((sum, { summary }) => sum + summary.requests.retried, 0);
    // The first windows are full ones; what is left over is spent in the last.
    const windows = Math.floor(seconds / windowSeconds);
    const share = windows === 0 ? 1 : Math.min(1, (total - (total % limit)) / limit / windows);
    report(
      `${runs} run(s), ${total} requests at ${limit} a window`,
      share * 100,
      "% of the windows that passed",
      share >= 0.97,
      "at least 97",
    );
    report("  sent again after a 429", retried, "requests", retried === 0, "none");
    await service.stop();
  }
}

async function bareLoop({ env }, rows) {
  const pool = new Pool(env.ECM_BASE_URL, { connections: 8 });
  const headers = { "x-api-key": env.ECM_API_KEY, "content-type": "application/json" };
  const { body } = await pool.request({ method: "GET", path: "/api/contact-structure", headers });
  const [structure] = await body.json();
  let next = 0;
  const send = async () => {
    while (next < rows) {
      const index = next++;
      const contact = {
        key: `p${index}@example.com`,
        contactStructureId: structure._id,
        fields: [{ _id: structure.fields[0]._id, value: `First ${index}` }],
      };
      const answer = await pool.request({
        method: "POST",
        path: "/api/contact",
        headers,
        body: JSON.stringify(contact),
      });
      await answer.body.json();
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
  await pool.close();
}
