/**
 * The requests of an import, and what its dry run said, each beside what it is held against (CPU and memory:
 * ratios.mjs). Usage: npm run build && node bench/import.mjs
 */
import { ecm, measuring, people, personAt, report, sandbox, seed } from "./harness.mjs";

/** How the service may decide what its documents leave open (`ecm sandbox variants`). */
const variants = [
  "keys=any",
  "keys=refused",
  "keys=first",
  "max-keys=20",
  "page=cap:100",
  "page=refuse:300",
  "lists=array",
  "mutate-elements=object",
  "mutate-elements=id",
  "mutate-answer=empty",
  "mutate-answer=other",
  "noop=NoChangesError",
  "search-lag=30000",
  "hourly-headers=missing",
  "source=specified",
  "literal=yes",
];

await measuring(requests);

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

/**
 * A thousand unchanged rows in an account of five thousand: the first time, and when the service is known.
 */
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
