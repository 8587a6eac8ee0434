import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerContactGet } from "./get.ts";

export function registerContact(contact: Command, context: Context): void {
  registerContactGet(contact, context);
}
