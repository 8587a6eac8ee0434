/** How events look, and the keys of the contacts that they name. */

import type { ContactEvent } from "../../api/events.ts";
import type { Connection, Context } from "../../context.ts";
import {
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

/** With `--columns key`, contacts that an event names only by their ids are looked up. */
export async function presentEvents(
  { terminal }: Context,
  connection: Connection,
  output: ListOutput,
  events: readonly ContactEvent[],
): Promise<void> {
  const wantsKeys =
    hasColumns(output) &&
    chooseColumns(createEventView().columns, output.columns).some(({ name }) => name === "key");
  const view = createEventView(wantsKeys ? await readKeys(connection, events) : undefined);
  await presentList(terminal, output, [...events], view);
}

/** The keys of contacts that their events name by their ids alone; none for those that are gone. */
async function readKeys({ send }: Connection, events: readonly ContactEvent[]): Promise<Map<string, string>> {
  const [{ fetchContact }, { ServiceError }] = await Promise.all([
    import("../../service/mutate-contact.ts"),
    import("../../errors.ts"),
  ]);
  // Another event may have it.
  const keys = new Map(
    events.flatMap(({ contactId, emailTo }) => (contactId && emailTo ? [[contactId, emailTo]] : [])),
  );
  for (const { contactId, emailTo } of events) {
    if (emailTo !== undefined || contactId === undefined || keys.has(contactId)) continue;
    try {
      keys.set(contactId, (await fetchContact(send, contactId)).key);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
      keys.set(contactId, "");
    }
  }
  return keys;
}
