/** `ecm import --template`: an empty CSV with the columns that the account's structure takes. */
import type { Context } from "../../context.ts";
import { formatCsvLine } from "../../delimited-lines.ts";
import { openOutput } from "../../terminal/output-file.ts";

/** @throws EcmError when the structure cannot be read */
export async function runTemplate(context: Context): Promise<void> {
  const output = context.output({}, "csv");
  const { account } = await context.connect();
  const structure = await account.structure();
  const { createContactHeaders } = await import("../../service/contact-columns.ts");
  const { builtIn, fields } = createContactHeaders(structure);
  const header = [
    builtIn.key,
    ...structure.fields.map(({ _id }) => fields.get(_id)!),
    builtIn.lists,
    builtIn.tags,
  ];
  const sink = await openOutput(context.terminal, { ...output, format: "csv" });
  await sink.write(`${formatCsvLine(header)}\n`);
  await sink.commit();
}
