/** The empty input of a run whose contacts come from the account. */

import { TextIndex } from "../../text-index.ts";
import { ConsentTally } from "./consent-tally.ts";
import type { Reading, UnderstoodInput } from "./reading.ts";
import type { Survey } from "./survey.ts";

export const emptyInput: UnderstoodInput = {
  file: { path: "", name: "" },
  facts: {
    sha256: "",
    bytes: 0,
    encoding: "utf-8",
    delimiter: ",",
    hasEscapes: false,
    form: { kind: "text", encoding: "utf-8", hasMark: false },
    columns: [],
    computed: [],
    notes: [],
    sample: [],
  },
  // There are no rows to be read.
  reading: {} as Reading,
};

export function createEmptySurvey(): Survey {
  return {
    read: 0,
    rejected: 0,
    consent: new ConsentTally([]),
    markedElsewhere: new Map(),
    markedIdentities: { clear: new TextIndex(), unclear: new TextIndex() },
    otherIdentities: new TextIndex(),
    rejectedCodes: new Map(),
    warnings: new Map(),
    lists: new Set(),
    tags: new Set(),
    identities: new TextIndex(),
    lastLine: 0,
    notes: [],
    async *batches() {},
  };
}
