/** Which variant a recording was made against: every value of every variant is found, or named here. */
import { expect, it } from "vitest";
import type { RecordedExchange } from "../../src/recording/exchange.ts";
import { variantDescriptions } from "../../src/sandbox/variants.ts";
import { recordConversation, verify } from "./kit.ts";

/** For the placeholders of the table of variants. */
const examples: Record<string, Record<string, string>> = {
  "max-keys": { N: "2" },
  page: { "refuse:N": "refuse:2", "cap:N": "cap:2" },
  noop: { TYPE: "NoChangesError" },
  "search-lag": { N: "5000" },
};
/** What a recording does not show: that a search lags can be seen, for how long cannot. */
const unseen: Record<string, string> = { "search-lag=5000": "search-lag=2000" };

const values = variantDescriptions.flatMap(({ name, values }) =>
  values.slice(1).map(({ value }) => ({ name, value: examples[name]?.[value] ?? value })),
);

it.each(values)(
  "a recording made against $name=$value is found to be exactly that",
  { tags: "slow" },
  async ({ name, value }) => {
    const { differences, found } = await verify(await recordConversation({ [name]: value }));
    expect(differences).not.toEqual([]);
    const choice = `${name}=${value}`;
    const words = Object.entries(found.variants).map(([variant, chosen]) => `${variant}=${chosen}`);
    expect(words).toEqual([unseen[choice] ?? choice]);
    expect(found.differences).toEqual([]);
  },
);

it("two variants are found where a third one explains most of both", { tags: "slow" }, async () => {
  const variants = { inactive: "hidden", status: "object" };
  const { found } = await verify(await recordConversation(variants));
  expect(found).toEqual({ variants, differences: [] });
});

it("a recording of the default does not differ", { tags: "slow" }, async () => {
  const { differences } = await verify(await recordConversation({}));
  expect(differences).toEqual([]);
});

it("pages stand in their order, and the first one at the beginning, whatever else a search finds", async () => {
  const [structureId, ids] = ["a".repeat(24), [1, 2, 3, 4, 5].map((n) => `${n}`.repeat(24))];
  const find = (page: number, pageSize: number, found: string[], status?: string): RecordedExchange => ({
    method: "POST",
    path: "/api/contact/search",
    body: {
      contactStructureId: structureId,
      page,
      pageSize,
      source: ["_id"],
      contactSpecification: {
        filters: status
          ? [{ criterias: [{ columnToFilter: "CONTACT_STATUS", operator: "EQ", values: [status] }] }]
          : [],
      },
    },
    status: 200,
    answer: {
      totalRecords: status ? found.length : ids.length,
      contacts: found.map((_id) => ({ _id, contactStructureId: structureId })),
    },
  });
  const [one, two, three, four, five] = ids as [string, string, string, string, string];
  const { differences } = await verify([
    find(1, 2, [one, two]),
    find(2, 2, [three, four]),
    find(1, 10, [one, four, five], "inactive"),
  ]);
  expect(differences).toEqual([]);
  const first = await verify([find(1, 10, [two, three, four], "active"), find(1, 1, [one])]);
  expect(first.differences).toEqual([]);
});

it("parts of a contact that have no id are left aside", { tags: "slow" }, async () => {
  const contact = { _id: "b".repeat(24), contactStructureId: "a".repeat(24), key: "person-1@example.com" };
  const exchange: RecordedExchange = {
    method: "GET",
    path: `/api/contact/${contact._id}`,
    status: 200,
    answer: { ...contact, fields: [null], lists: [null], tags: [null] },
  };
  expect((await verify([exchange])).steps).toHaveLength(1);
});
