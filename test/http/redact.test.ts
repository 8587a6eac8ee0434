import fc from "fast-check";
import { expect, it } from "vitest";
import { EcmError } from "../../src/errors.ts";
import type { ApiRequest, TransportFailure, WireAnswer } from "../../src/wire.ts";
import { runs } from "../support/runs.ts";
import { createSendTo } from "../support/test-send.ts";

const anyKey = fc.stringMatching(/^[\x21-\x7e]{12,60}$/);

/** A service that puts the key wherever it can. */
function echoes(key: string): fc.Arbitrary<WireAnswer | TransportFailure> {
  const words = fc.tuple(fc.string(), fc.string()).map(([before, after]) => before + key + after);
  const body = fc.oneof(
    words,
    words.map((text) => JSON.stringify({ errors: [{ errorType: text, message: text, field: text }] })),
    words.map((text) => JSON.stringify({ [text]: [text, { deep: encodeURIComponent(text) }] })),
  );
  const headers = fc.record({ "content-type": words, location: words, "x-key": fc.constant(key) });
  const status = fc.constantFrom(200, 204, 301, 400, 401, 403, 404, 429, 500, 503);
  const answer = fc.record({ status, headers, text: body });
  const failure = fc.record({ message: words, partial: fc.option(answer, { nil: undefined }) }).map((parts) =>
    Object.assign(new Error(parts.message), {
      code: "ECONNRESET",
      partial: parts.partial,
      request: { headers: { "x-api-key": key } },
    }),
  );
  return fc.oneof(answer, failure);
}

/** Everything that somebody could print of a value, causes included. */
function collectText(value: unknown): string {
  if (!(value instanceof Error)) return JSON.stringify(value) ?? "";
  const details = value instanceof EcmError ? value.details : {};
  const whole = JSON.stringify({ ...value, details });
  return [value.message, value.stack, whole, collectText(value.cause)].join("\n");
}

it("the API key is in no answer, event, error or cause, wherever the service puts it", async () => {
  const cases = anyKey.chain((key) =>
    fc.record({
      key: fc.constant(key),
      answers: fc.array(echoes(key), { minLength: 1, maxLength: 4 }),
      effect: fc.constantFrom("read", "write") as fc.Arbitrary<ApiRequest["effect"]>,
      expect: fc.constantFrom("json", "any") as fc.Arbitrary<"json" | "any">,
      body: fc.constantFrom(undefined, { note: key }, [key]),
      query: fc.constantFrom<[string, string][]>([], [["key", key]]),
    }),
  );
  await fc.assert(
    fc.asyncProperty(cases, async ({ key, answers, effect, expect: expected, body, query }) => {
      let count = 0;
      let sentKey: string | undefined;
      const { send, events } = await createSendTo("https://api.example.com", {
        apiKey: key,
        transport: async ({ headers }) => {
          sentKey = headers["x-api-key"];
          const answer = answers[Math.min(count++, answers.length - 1)]!;
          if (answer instanceof Error) throw answer;
          return answer;
        },
        maxWaitSeconds: 3,
      });
      const request: ApiRequest = { method: "POST", path: "/api/x", body, query, effect };
      const result = await send(request, { expect: expected }).catch((error: unknown) => error);
      expect(sentKey).toBe(key);
      for (const text of [collectText(result), ...events.map(collectText)]) {
        expect(text.includes(key)).toBe(false);
        expect(text.includes(JSON.stringify(key).slice(1, -1))).toBe(false);
      }
    }),
    { numRuns: runs(60) },
  );
});
