/** The order of ids, as answers that are in the order of ids show it. Pure. */
import { readFilters, toMembers } from "./members.ts";
import type { Step } from "./steps.ts";

export class IdOrder {
  /** Ids in their order, without a gap that matters. */
  readonly sequences: string[][] = [];
  /** Those of them with which all contacts began: whoever else there was comes later. */
  readonly beginnings: string[][] = [];
  /** The last id of each page, by the request. */
  private readonly ends = new Map<string, string>();
  /** Pages up to which nobody is missing. */
  private readonly whole = new Set<string>();

  /**
   * What a later page begins with comes after what the page before it ended with: others may have gone
   * meanwhile, and whoever came is at the end.
   */
  read({ method, path, query = [], body }: Step["exchange"], ids: string[]): void {
    const { page: pageInBody, ...search } = toMembers(body);
    const page = Number(pageInBody ?? query.find(([name]) => name === "page")?.[1] ?? 1);
    const others = query.filter(([name]) => name !== "page");
    const toName = (number: number) => JSON.stringify([number, method, path, others, search]);
    const before = this.ends.get(toName(page - 1));
    const last = ids.at(-1);
    if (last !== undefined) this.ends.set(toName(page), last);
    const sequence = before === undefined ? ids : [before, ...ids];
    this.sequences.push(sequence);
    const isForAll = path === "/api/contact/search" && readFilters(body).flat().length === 0;
    if (!isForAll || !(page === 1 || this.whole.has(toName(page - 1)))) return;
    this.whole.add(toName(page));
    this.beginnings.push(sequence);
  }
}
