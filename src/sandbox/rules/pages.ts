import type { Variants } from "../variants.ts";
import { invalid } from "./refusal.ts";

/** How many entries a page of this size gets. @throws Refusal where larger pages are refused */
export function limitPageSize(wanted: number, field: "pageSize" | "size", { page: limit }: Variants): number {
  if (wanted <= limit.size) return wanted;
  if (limit.beyond === "cap") return limit.size;
  throw invalid(`${field} must be at most ${limit.size}`, { field });
}
