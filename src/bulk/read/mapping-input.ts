/** Reading: what is known of a file when its columns are mapped. */
import type { ContactStructure } from "../../wire.ts";
import type { FoundConsent } from "./find-consent.ts";
import type { ReadOptions, Target } from "./rows.ts";
import type { Sample } from "./sample.ts";
import type { System } from "./systems.ts";

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
  /** What the file's names and cells say of consent, from `findConsent`. */
  found?: readonly FoundConsent[];
}

export type Targets = (Target | undefined)[];
