/** The flags of `ecm import`, as commander hands them over. */
import type { BulkFlags } from "../../flags/bulk.ts";

export interface ImportFlags extends BulkFlags {
  map?: string[];
  mapping?: string;
  set?: string[];
  list?: string[];
  tag?: string[];
  createMissing?: boolean;
  mode: "upsert" | "create" | "update";
  blank: "keep" | "clear";
  duplicates: "merge" | "last" | "first" | "reject";
  from?: string;
  sheet?: string;
  delimiter?: string;
  encoding?: string;
  skipLines?: number;
  header?: boolean;
  ignoreUnmapped?: boolean;
  consentColumn?: string[];
  includeUnsubscribed?: boolean;
  includeSuppressed?: boolean;
}
