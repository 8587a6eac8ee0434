/**
 * What a computed column costs a row: the CPU of a dry run with each kind of entry, less that of the same
 * columns mapped by name. A dry run of so many rows makes each value twice: once to check the file, once for
 * the plan. Usage: npm run build && node bench/mapping.mjs [rows] [kind…]
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ecm, folder, measuring, median, program, report, run, sandbox } from "./harness.mjs";

const rows = Number(process.argv[2] ?? 200_000);
const wanted = process.argv.slice(3);
const columns = ["A", "B", "C", "D"];
const most = 3;

/** For each kind, the cell of a row and the entry of a column. */
const kinds = {
  "value: a part of a text": [
    (row) => `Ada Lovelace${row}`,
    (name) => ({ value: `row.${name}.split(" ")[0]` }),
  ],
  "value: two cells joined": [(row) => `Ada${row}`, (name) => ({ value: `row.A + " " + row.${name}` })],
  "value: a condition": [
    (row) => `${row % 7}`,
    (name) => ({ value: `row.${name} == "3" ? "three" : row.${name}` }),
  ],
  "map: 50 values": [
    (row) => `Value ${row % 60}`,
    () => ({
      map: Object.fromEntries(Array.from({ length: 50 }, (_, each) => [`Value ${each}`, `${each}`])),
    }),
  ],
  "date: 25,000 different days": [(row) => makeDay(row % 25_000), () => ({ date: "DD.MM.YYYY" })],
  "blank: only-if-empty": [(row) => `Ada${row}`, () => ({ blank: "only-if-empty" })],
};

function makeDay(number) {
  const [year, month, day] = new Date(number * 86_400_000).toISOString().slice(0, 10).split("-");
  return `${day}.${month}.${year}`;
}

await measuring(async () => {
  const service = await sandbox();
  for (const name of columns) await run([program, "structure", "field", "add", name], service);
  for (const [kind, [makeCell, makeEntry]] of Object.entries(kinds)) {
    if (wanted.length > 0 && !wanted.some((each) => kind.startsWith(each))) continue;
    const file = join(folder, "people.csv");
    let text = `Email,${columns.join(",")}\n`;
    for (let row = 0; row < rows; row++) {
      text += `p${row}@example.com${`,${makeCell(row)}`.repeat(columns.length)}\n`;
    }
    writeFileSync(file, text);
    const mapping = join(folder, "mapping.json");
    writeFileSync(
      mapping,
      JSON.stringify(Object.fromEntries(columns.map((name) => [name, makeEntry(name)]))),
    );
    const dry = ["import", file, "--dry-run", "--json"];
    const plain = await median(() => ecm(dry, service), "cpuSeconds");
    const made = await median(() => ecm([...dry, "--mapping", mapping], service), "cpuSeconds");
    const each = ((made.cpuSeconds - plain.cpuSeconds) * 1e6) / rows / columns.length;
    report(kind, each, "µs a row and column", each <= most, `at most ${most}`);
  }
  await service.stop();
});
