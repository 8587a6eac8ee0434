/** Reading: what is known of a file when its columns are mapped. */
import type { ContactStructure } from "../../wire.ts";
import type { ReadOptions, Target } from "../rows.ts";
import type { Sample } from "../sample.ts";
import type { System } from "../system-table.ts";

/** `--set`: the same value for every row. */
export interface Constant {
  fieldId: string;
  label: string;
  value: string;
  /** The file's columns of the field's name: their cells go nowhere. */
  replaces: readonly number[];
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
  constants: readonly Constant[];
}

export type Targets = (Target | undefined)[];
