/** Records what an account of the sandbox answers to a fixed conversation, for the tests of replays. */
import { describeExchange, type RecordedExchange } from "../../src/recording/exchange.ts";
import { createPseudonyms } from "../../src/recording/pseudonyms.ts";
import { verifyRecording } from "../../src/replay/verify-recording.ts";
import { eq, openAccount } from "../sandbox/account.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the conversation alone
type Answer = { status: number; body: any };
type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

const now = Date.UTC(2026, 5, 15, 12);

/** What a conversation has to say for each variant to be seen. */
export async function recordConversation(variants: Record<string, unknown>): Promise<RecordedExchange[]> {
  const account = await openAccount({ variants });
  const { tags, lists } = await account.furnished();
  const { fields } = await account.update({
    fields: [...(await account.definition()).fields, { label: "Member number", required: true }],
  });
  account.clock.pass(86_400);
  const number = fields.find((field) => field.required)!;
  const value = { _id: number._id, value: "17" };
  for (const name of ["ada", "bob", "cy", "dee"]) {
    const made = await account.create(`${name}@b.co`, { fields: [value] });
    if (name === "dee") {
      const status = { primary: "Inactive", secondary: "Unsubscribe" };
      await account.call("PATCH", `/api/contact/${made._id}`, { status });
    }
  }
  account.clock.pass(86_400);
  const exchanges: RecordedExchange[] = [];
  const pseudonyms = createPseudonyms("conversation");
  const ask: Ask = async (method, target, body) => {
    const reply = await account.call(method, target, body);
    const sent = body === undefined ? undefined : JSON.stringify(body);
    exchanges.push(describeExchange({ method, target, body: sent, answer: reply }, pseudonyms));
    return reply;
  };
  await converse(ask, { structureId: account.structureId, tag: tags[0]!, list: lists[0]!, value });
  return exchanges;
}

interface Known {
  structureId: string;
  tag: string;
  list: string;
  value: { _id: string; value: string };
}

async function converse(ask: Ask, known: Known): Promise<void> {
  const { structureId, tag, list, value } = known;
  const structures = "/api/contact-structure";
  await ask("GET", structures);
  await ask("GET", `${structures}/${structureId}`);
  await ask("GET", `${structures}/${structureId}/lists?size=100`);
  await ask("GET", `${structures}/${structureId}/lists/all`);
  await ask("POST", `${structures}/${structureId}/lists`, { name: "Spring" });
  const search = (filters: object[][], more = {}) =>
    ask("POST", "/api/contact/search", {
      contactStructureId: structureId,
      page: 1,
      pageSize: 100,
      source: ["_id", "key", "fields", "lists", "tags", "createdAt"],
      contactSpecification: { filters: filters.map((criterias) => ({ criterias })) },
      ...more,
    });
  for (const pageSize of [2, 3, 100]) await search([[eq("CONTACT_STATUS", "active")]], { pageSize });
  await search([[eq("CONTACT_STATUS", "active")]], { page: 2 });
  await search([[eq("CONTACT_STATUS", "inactive")]]);
  await search([[eq("KEY", "dee@b.co")]]);
  const keys = ["ada@b.co", "bob@b.co", "cy@b.co"];
  await search([[eq("KEY", ...keys.slice(0, 2))]]);
  await search([[eq("KEY", ...keys)]]);
  await search(keys.slice(0, 2).map((key) => [eq("KEY", key)]));
  await search(keys.map((key) => [eq("KEY", key)]));
  await search([[eq("KEY", "ADA@B.CO")]]);
  await search([[eq("LIST_ID", list)]]);
  await search([], { source: ["_id", "key", "updatedAt"] });
  await search([], { source: ["_id", "key", "contactStatus", "contactSubStatus"] });
  await search([], { source: ["_id", "key", "status", "__v"] });
  await ask("GET", "/api/contact/events");
  const create = { contactStructureId: structureId, fields: [value] };
  await ask("POST", "/api/contact", { ...create, key: "eve@b.co", fields: [] });
  await ask("POST", "/api/contact", { ...create, key: "flo@b.co", nickname: "F" });
  const made = await ask("POST", "/api/contact", { ...create, key: "gil@b.co" });
  await search([[eq("KEY", "gil@b.co")]]);
  const mutate = (change: object) => ask("PUT", `/api/contact/${made.body._id}/mutate`, change);
  await mutate({ addTags: [{ _id: tag }] });
  await mutate({ addTags: [{ _id: tag }] });
  await mutate({ removeTags: [tag] });
  await ask("GET", `/api/contact/${made.body._id}`);
  await ask("DELETE", `/api/contact/${made.body._id}`);
}

export const verify = (exchanges: RecordedExchange[]) => verifyRecording(exchanges, {}, { now });
