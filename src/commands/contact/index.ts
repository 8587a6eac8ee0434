import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { registerContactCreate } from "./create.ts";
import { registerContactDelete } from "./delete.ts";
import { registerContactDossier } from "./dossier.ts";
import { registerContactErase } from "./erase.ts";
import { registerContactGet } from "./get.ts";
import { registerContactMove } from "./move.ts";
import { registerContactMutate } from "./mutate.ts";
import { registerContactSearch } from "./search.ts";
import { registerContactUnsubscribe } from "./unsubscribe.ts";

export function register(contact: Command, context: Context): void {
  registerContactCreate(contact, context);
  registerContactGet(contact, context);
  registerContactSearch(contact, context);
  registerContactMutate(contact, context);
  registerContactMove(contact, context);
  registerContactDossier(contact, context);
  registerContactErase(contact, context);
  registerContactUnsubscribe(contact, context);
  registerContactDelete(contact, context);
}
