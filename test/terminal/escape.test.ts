import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeControls } from "../../src/terminal/escape.ts";

describe("escapeControls", () => {
  it("shows what would move the cursor, colour the screen or turn the text round", () => {
    expect(escapeControls("a\u001b[31mred\u0007\n\t\u202eback\u009b1m\u0000")).toBe(
      "a\\x1b[31mred\\x07\\n\\t\\u202eback\\x9b1m\\x00",
    );
  });

  it("leaves names in any script, emoji and combining marks as they are", () => {
    for (const name of ["髙橋 花子", "Ελένη", "👩‍💻", "e\u0301", "שלום", "naïve"]) {
      expect(escapeControls(name)).toBe(name);
    }
  });

  it("lets no control character through", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(escapeControls(text)).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/,
        );
      }),
    );
  });
});
