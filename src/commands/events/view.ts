/** How events look, and the keys of the contacts that they name. */

import type { ContactEvent } from "../../api/events.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { hasStatus } from "../../errors.ts";
import { isForPeople } from "../../terminal/format.ts";
import {
  type Column,
  chooseColumns,
  hasColumns,
  type ListOutput,
  presentList,
  type View,
} from "../../terminal/present.ts";

/** @param keys of contacts by id; only for the column `key` */
export function createEventView(keys: ReadonlyMap<string, string> = new Map()): View<ContactEvent> {
  const more = [
    "source",
    "importId",
    "emailSubject",
    "emailCampaignId",
    "emailBounceDiagCode",
    "emailSmtpResponse",
  ] as const;
  return {
    columns: [
      { name: "time", value: (event) => event.timestamp, isTime: "minute" },
      { name: "type", value: (event) => event.type },
      { name: "email", value: (event) => event.emailTo },
      { name: "campaign", value: (event) => event.emailCampaignName },
      { name: "detail", value: formatDetail },
      { name: "contactId", title: "contact", value: (event) => event.contactId, isWhole: true },
      { name: "key", value: (event) => event.emailTo ?? keys.get(event.contactId ?? ""), optional: true },
      ...more.map((name) => ({ name, value: (event: ContactEvent) => event[name], optional: true })),
    ],
    id: (event) => event.contactId ?? "",
  };
}

function formatDetail(event: ContactEvent): string {
  const parts = [
    event.emailBounceType,
    event.emailBounceSubType,
    event.emailComplaintFeedbackType,
    event.emailDelayType,
    event.emailRejectReason,
    event.emailTargetUrl,
    event.importOriginalFileName,
  ];
  return parts.filter(Boolean).join(", ");
}

/** For people: who it was, by address where that is known. */
function createEventScreen(keys: ReadonlyMap<string, string>): View<ContactEvent> {
  const { columns, id } = createEventView(keys);
  const shown = columns.filter(({ name, optional }) => !optional && name !== "email" && name !== "contactId");
  const [time, type, ...others] = shown;
  const who: Column<ContactEvent> = {
    name: "contact",
    value: ({ emailTo, contactId = "" }) => emailTo ?? (keys.get(contactId) || contactId),
    isWhole: true,
  };
  return { columns: [time!, type!, who, ...others], id };
}

/** So many contacts are looked up for a table on a screen. */
export const maxLookups = 20;
/** A table takes no more than this part of what is left of the hour. */
const affordablePart = 0.1;

/** With `--columns key`, contacts that an event names only by their ids are looked up; in a table, a few. */
export async function presentEvents(
  context: Context,
  connection: Connection,
  output: ListOutput,
  events: readonly ContactEvent[],
): Promise<void> {
  const { terminal } = context;
  const { known, unknown } = collectKeys(events);
  const isScreen = isForPeople(output);
  const isWanted = isScreen ? isAffordable(context, unknown.length) : hasKeyColumn(output);
  const keys = isWanted ? await readKeys(connection, known, unknown) : known;
  const view = isScreen ? createEventScreen(keys) : createEventView(keys);
  await presentList(terminal, output, [...events], view);
  if (isScreen && !isWanted)
    terminal.note(`Addresses of all: --columns time,type,key (${formatCount(unknown.length)} requests)`);
}

function isAffordable(context: Context, lookups: number): boolean {
  const left = context.limits()?.hour?.remaining ?? Number.POSITIVE_INFINITY;
  return lookups <= Math.min(maxLookups, left * affordablePart);
}

function hasKeyColumn(output: ListOutput): boolean {
  if (!hasColumns(output)) return false;
  return chooseColumns(createEventView().columns, output.columns).some(({ name }) => name === "key");
}

/** What events tell themselves: another event of the same contact may have its address. */
function collectKeys(events: readonly ContactEvent[]): { known: Map<string, string>; unknown: string[] } {
  const known = new Map<string, string>();
  for (const { contactId, emailTo } of events) if (contactId && emailTo) known.set(contactId, emailTo);
  const ids = new Set(
    events.flatMap(({ contactId, emailTo }) => (contactId && emailTo === undefined ? [contactId] : [])),
  );
  return { known, unknown: [...ids].filter((id) => !known.has(id)) };
}

/** The keys of all these contacts; empty for those that are gone. */
async function readKeys(
  { send }: Connection,
  known: ReadonlyMap<string, string>,
  unknown: readonly string[],
): Promise<Map<string, string>> {
  const { fetchContact } = await import("../../service/mutate-contact.ts");
  const keys = new Map(known);
  for (const id of unknown) {
    try {
      keys.set(id, (await fetchContact(send, id)).key);
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
      keys.set(id, "");
    }
  }
  return keys;
}
