/** Reading: what is known of a file when its columns are mapped. */
import type { ContactStructure } from "../../../wire.ts";
import type { CompiledEntry } from "../compute/compile.ts";
import type { ReadOptions, Target } from "../rows.ts";
import type { Sample } from "../sample.ts";
import type { System } from "../system-table.ts";

/** An entry of a mapping, with where its values go. */
export interface ComputedColumn extends CompiledEntry {
  target: Target;
}

/** What the header is held against. */
export interface MappingInput {
  /** One for each column; `1`, `2`, … without a header. */
  names: string[];
  /** The first rows. */
  sample: Sample;
  options: ReadOptions;
  structure: ContactStructure;
  system?: System;
  /** `FILE:LINE` of the header, for messages. */
  place: string;
  /** What the mapping makes. */
  computed: readonly ComputedColumn[];
}

export type Targets = (Target | undefined)[];
