import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerDomainsGet } from "./get.ts";
import { registerDomainsList } from "./list.ts";

export function registerDomains(domains: Command, context: Context): void {
  registerDomainsList(domains, context);
  registerDomainsGet(domains, context);
}
