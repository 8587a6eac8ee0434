/**
 * What a selection costs: requests by list and by --where, CPU per contact of a condition, start of the
 * expression's library. Usage: node scripts/build.mjs && node bench/selections.mjs
 */
import { ecm, measuring, report, sandbox, seed } from "./harness.mjs";

const pageSize = 1000;

await measuring(async () => {
  await conditions();
  await requests();
});

/** The library alone: what a start with `--where` adds, and what a contact costs. */
async function conditions() {
  const before = performance.now();
  const { Environment } = await import("@marcbachmann/cel-js");
  const environment = new Environment();
  for (const name of ["key", "City"]) environment.registerVariable(name, "string");
  environment.registerVariable("tags", "list<string>");
  environment.registerVariable("createdAt", "google.protobuf.Timestamp");
  const program = environment.parse(
    'City == "Oslo" && "VIP" in tags && createdAt > timestamp("2026-01-01T00:00:00Z")',
  );
  program.check();
  report("CEL: load, parse and check", performance.now() - before, "ms", true, "");
  const count = 200_000;
  const start = performance.now();
  for (let index = 0; index < count; index++) {
    const createdAt = new Date(1_767_225_600_000 + index);
    program({
      key: `p${index}`,
      City: index % 2 ? "Oslo" : "Rome",
      tags: index % 3 ? ["VIP"] : [],
      createdAt,
    });
  }
  const each = ((performance.now() - start) * 1000) / count;
  report("CEL: one contact", each, "µs", each < 20, "under 20");
}

/** Pages, and a write for each; nothing is read twice. */
async function requests() {
  const rows = 20_000;
  const service = await sandbox();
  await seed(service, rows, (index) => ({
    key: `p${index}@example.com`,
    fields: { "First Name": String(index % 4) },
    lists: [index % 2 === 0 ? "Even" : "Odd"],
  }));
  try {
    // The structure and its lists, by name.
    const names = 2;
    const byList = ["contact", "unsubscribe", "--list", "Even", "--yes", "--json"];
    await measured("unsubscribe 10,000 by --list", byList, service, 10 + 10_000 + names);
    const byWhere = [
      "contact",
      "delete",
      "--where",
      'First_Name == "1" || First_Name == "3"',
      "--yes",
      "--json",
    ];
    await measured("delete 10,000 by --where", byWhere, service, rows / pageSize + 10_000 + names);
    const rest = ["contact", "delete", "--list", "Even", "--yes", "--json"];
    await measured("delete 10,000 by --list", rest, service, 10 + 10_000 + names);
  } finally {
    await service.stop();
  }
}

async function measured(what, args, service, most) {
  const dry = await ecm([...args, "--dry-run"], service);
  const real = await ecm(args, service);
  const { total, retried } = real.summary.requests;
  report(
    what,
    total,
    `requests (${retried} retried), ${Math.round(real.seconds)} s`,
    total <= most,
    `at most ${most}`,
  );
  const said = dry.summary.estimate.requests;
  report("  its dry run said", said, "requests", said === total, "the same");
  report("  its peak memory", real.peakMib, "MiB", real.peakMib <= 200, "at most 200");
}
