/** The empty input of a run whose contacts come from the account. */

import { readPlainly, type UnderstoodInput } from "./reading.ts";
import type { TableLayout } from "./table-layout.ts";

const file = { path: "", name: "" };
const encoding = "utf-8";
const delimiter = ",";

const table: TableLayout = {
  source: { file, encoding, markBytes: 0 },
  dialect: { delimiter, hasNoQuotes: false, hasEscapes: false, isTable: false },
  startLine: 1,
  headerLines: 0,
  isHeaderSure: false,
  written: [],
  names: [],
  isNamed: false,
  isSheet: false,
  hasSafeCells: false,
  formulaColumns: [],
  width: 0,
};

export const emptyInput: UnderstoodInput = {
  file,
  facts: {
    sha256: "",
    bytes: 0,
    encoding,
    delimiter,
    hasEscapes: false,
    form: { kind: "text", encoding, hasMark: false },
    columns: [],
    constants: [],
    notes: [],
    sample: [],
  },
  reading: readPlainly(table, "", undefined),
};
