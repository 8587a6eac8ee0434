/** The floor of reading: csv-parse over a file, and nothing done with the rows. */
import { createReadStream } from "node:fs";
import { parse } from "csv-parse";

let rows = 0;
for await (const _row of createReadStream(process.argv[2]).pipe(parse())) rows++;
process.stdout.write(`${rows}\n`);
