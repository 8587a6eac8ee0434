/** What a recording keeps of an exchange: what the service did, and nothing of whose it was. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeExchange, type Exchange } from "../../src/recording/exchange.ts";
import { createPseudonyms, type Pseudonyms } from "../../src/recording/pseudonyms.ts";
import { memberWords, pathWords } from "../../src/recording/vocabulary.ts";

const id = "0123456789abcdef01234567";

/** All pseudonyms are the same: what differs then has come through. */
const blind: Pseudonyms = { id: () => "X", text: () => "X", name: () => "N" };

/** An exchange with what is somebody's in every place where it may be. */
function exchangeWith(values: readonly string[]): Exchange {
  const at = (place: number) => values[place % values.length]!;
  const contact = (start: number) => ({
    _id: at(start),
    key: at(start + 1),
    contactStructureId: id,
    fields: [{ _id: id, value: at(start + 2) }],
    lists: [{ _id: id, name: at(start + 3), action: `${at(start + 1)}!` }],
    tags: [{ label: at(start + 4) }],
    status: { primary: "Active", secondary: "Unsubscribe", [at(start + 5)]: at(start) },
    createdAt: "2026-01-02T03:04:05.678Z",
    [at(start + 6)]: { [at(start + 7)]: at(start) },
    phone: values.length * 4_712_345 + at(start).length,
    total: 4_712_345_000 + at(start).length,
    isVip: at(start).length % 2 === 0,
  });
  return {
    method: "POST",
    target: `/api/contact/${encodeURIComponent(at(0))}/mutate?page=2&criteria=${encodeURIComponent(at(1))}&${encodeURIComponent(`${at(2)}~`)}=${encodeURIComponent(at(3))}`,
    body: JSON.stringify({
      ...contact(0),
      source: ["_id", `${at(4)}!`],
      contactSpecification: {
        filters: [
          {
            criterias: [
              { columnToFilter: "KEY", operator: `${at(5)}!`, values: [at(1), at(6)] },
              { columnToFilter: `${at(7)}!`, operator: "EQ", values: [at(2)] },
              { columnToFilter: "CONTACT_STATUS", operator: "EQ", values: ["Active"] },
            ],
          },
        ],
      },
    }),
    answer: {
      status: 400,
      headers: {
        "x-ratelimit-limit": "3600",
        "content-type": at(3),
        "x-request-id": at(4),
        "x-monthly-limit": `${at(5)}!`,
        [`x-${at(6)}`]: at(0),
      },
      text: JSON.stringify({
        errors: [
          {
            errorType: "DuplicateFieldError",
            message: `A contact with the key ${at(1)} exists: ${at(7)}`,
            field: `${at(2)}.`,
            fieldId: at(0),
            debug: { affectedForms: [{ _id: at(1), name: at(2) }] },
          },
        ],
        contacts: [contact(1), contact(2)],
        totalRecords: 2,
        subject: at(3),
        emailTo: at(4),
        url: `https://example.com/${at(5)}`,
        dataType: `${at(6)}!`,
        type: `${at(7)}!`,
      }),
    },
  };
}

const hostile = [
  "Active",
  "Inactive",
  "Unsubscribe",
  "KEY",
  "EQ",
  "email-opened",
  "DuplicateFieldError",
  "static",
  "ada@example.com",
  "АДА@пример.рф",
  "Ada Lovelace",
  'naïve \u202e\u0000\n"quoted" \\ 😀',
  "__proto__",
  "constructor",
  "%2e%2e",
  "?page=1&x=1#y",
  "true",
  "2020-02-30T00:00:00Z",
  id.replace("0", "f"),
];
/** A member or a segment of the service's own name is its word, whoever wrote it; numbers move to the front of objects. */
const isOwnWord = (text: string) => memberWords.has(text) || pathWords.has(text) || /^\d+$/.test(text);
const value = fc
  .oneof(fc.constantFrom(...hostile), fc.emailAddress(), fc.string(), fc.string({ unit: "grapheme" }))
  .filter((text) => !isOwnWord(text) && text !== "");
const eightValues = fc.uniqueArray(value, { minLength: 8, maxLength: 8 });

describe("an exchange in a recording", () => {
  it("is the same whosever it is: nothing comes through that is not a pseudonym", { tags: "slow" }, () => {
    const kept = (values: readonly string[]) => JSON.stringify(describeExchange(exchangeWith(values), blind));
    const plain = kept(Array.from({ length: 8 }, (_, index) => `plain value ${index}`));
    fc.assert(
      fc.property(eightValues, (values) => {
        expect(kept(values)).toBe(plain);
      }),
    );
  });

  it("holds no value, in any place of it", { tags: "slow" }, () => {
    const marked = value.map((text) => `${text}\u2603Zq`);
    fc.assert(
      fc.property(fc.array(marked, { minLength: 8, maxLength: 8 }), (values) => {
        const text = JSON.stringify(describeExchange(exchangeWith(values), createPseudonyms("k")));
        expect(text).not.toMatch(/\u2603|Zq/i);
      }),
    );
  });

  it("keeps what the service did", () => {
    const recorded = describeExchange(exchangeWith(hostile.slice(8)), createPseudonyms("k"));
    expect(recorded).toMatchObject({
      method: "POST",
      path: expect.stringMatching(/^\/api\/contact\/person-[0-9a-f]{10}%40example\.com\/mutate$/),
      query: [
        ["page", "2"],
        ["criteria", expect.any(String)],
        [expect.stringMatching(/^member-/), expect.any(String)],
      ],
      status: 400,
      headers: {
        "x-ratelimit-limit": 3600,
        "content-type": null,
        "x-request-id": null,
        "x-monthly-limit": null,
      },
      body: {
        status: { primary: "Active", secondary: "Unsubscribe" },
        createdAt: "2020-01-01T00:00:00.000Z",
        source: ["_id", expect.stringMatching(/^text-/i)],
        contactSpecification: {
          filters: [
            {
              criterias: [
                { columnToFilter: "KEY" },
                { operator: "EQ" },
                { columnToFilter: "CONTACT_STATUS", operator: "EQ", values: ["Active"] },
              ],
            },
          ],
        },
      },
      answer: { errors: [{ errorType: "DuplicateFieldError", message: "…" }], totalRecords: 2 },
    });
  });

  it("says that a body is no JSON, was not seen, or that no answer came", () => {
    const ask = (more: Partial<Exchange>) =>
      describeExchange({ method: "GET", target: "/api/contact", ...more }, blind);
    const answer = { status: 200, headers: {}, text: "key\nada@example.com" };
    expect(ask({ answer })).toMatchObject({ status: 200, notJson: ["answer"] });
    expect(ask({ answer: { ...answer, text: "" }, isStreamed: true })).toMatchObject({ notJson: ["answer"] });
    expect(ask({ body: "ada@example.com", answer: { ...answer, text: "" } })).toEqual({
      method: "GET",
      path: "/api/contact",
      status: 200,
      headers: {},
      notJson: ["body"],
    });
    expect(ask({})).toEqual({ method: "GET", path: "/api/contact", status: null });
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    expect(ask({ answer: { ...answer, text: deep } })).toMatchObject({ status: 200 });
    expect(ask({ method: "ADA" }).method).toBe("OTHER");
  });
});

describe("a pseudonym", () => {
  const { text, id: toId } = createPseudonyms("k");

  it("is the same for the same text, in any letter case, and keeps its shape", () => {
    const address = text("ada@example.com");
    expect(address).toMatch(/^person-[0-9a-f]{10}@example\.com$/);
    expect(text("ADA@EXAMPLE.COM")).toBe(address.toUpperCase());
    expect(text("Ada@example.com")).toBe(`P${address.slice(1)}`);
    expect(text(id.toUpperCase())).toBe(toId(id));
    expect(toId(id)).toMatch(/^[0-9a-f]{24}$/);
    expect(text("Oslo")).toMatch(/^Text-[0-9a-f]{10}$/);
    expect(["", " \u2003"].map(text)).toEqual(["", " "]);
  });

  it("is another one under another key", () => {
    expect(createPseudonyms("other").text("ada@example.com")).not.toBe(text("ada@example.com"));
  });
});
