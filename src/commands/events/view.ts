/** How events look, and the keys of the contacts that they name. */
import type { ContactEvent } from "../../api/events.ts";
import type { Connection } from "../../context.ts";
import { hasStatus } from "../../errors.ts";
import { isForPeople, type OutputOptions } from "../../terminal/format.ts";
import { type Column, chooseColumns, hasColumns, type View } from "../../terminal/present.ts";

const more = [
  "source",
  "importId",
  "emailSubject",
  "emailCampaignId",
  "emailBounceDiagCode",
  "emailSmtpResponse",
] as const;

const columns: Column<ContactEvent>[] = [
  { name: "time", value: (event) => event.timestamp, isTime: "minute" },
  { name: "type", value: (event) => event.type },
  { name: "contactId", title: "contact", value: (event) => event.contactId, isWhole: true },
  { name: "email", value: (event) => event.emailTo },
  { name: "campaign", value: (event) => event.emailCampaignName },
  { name: "detail", value: formatDetail },
  { name: "key", value: (event) => event.emailTo, optional: true },
  ...more.map((name) => ({ name, value: (event: ContactEvent) => event[name], optional: true })),
];

export const eventView: View<ContactEvent> = {
  columns,
  id: (event) => event.contactId ?? "",
  empty: "No events",
};

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

/** So many contacts are looked up for a table on a screen. */
export const maxLookups = 20;

/** With `--columns key`, contacts that an event names only by their ids are looked up; in a table, a few. */
export async function planEventView(
  { send }: Connection,
  output: OutputOptions,
  events: readonly ContactEvent[],
) {
  const isScreen = isForPeople(output);
  if (
    !isScreen &&
    !(hasColumns(output) && chooseColumns(columns, output.columns).some(({ name }) => name === "key"))
  )
    return { view: eventView };
  const keys = new Map<string, string>();
  for (const { contactId, emailTo } of events) if (contactId && emailTo) keys.set(contactId, emailTo);
  const ids = new Set(events.flatMap(({ contactId }) => contactId ?? []));
  const unknown = [...ids].filter((id) => !keys.has(id));
  const isTooMuch = isScreen && unknown.length > maxLookups;
  const { fetchContact } = await import("../../service/mutate-contact.ts");
  for (const id of isTooMuch ? [] : unknown) {
    const contact = await fetchContact(send, id).catch((error: unknown) => {
      if (!hasStatus(error, 404)) throw error;
    });
    if (contact) keys.set(id, contact.key);
  }
  const toKey = ({ emailTo, contactId = "" }: ContactEvent) => emailTo ?? keys.get(contactId);
  const named = columns.map((column) => {
    if (column.name === "key") return { ...column, value: toKey };
    if (column.name !== "contactId" || !isScreen) return column;
    return { ...column, value: (event: ContactEvent) => toKey(event) ?? event.contactId };
  });
  return {
    view: { ...eventView, columns: named.filter(({ name }) => !isScreen || name !== "email") },
    note: isTooMuch ? `Addresses of all: --columns time,type,key (${unknown.length} requests)` : undefined,
  };
}
