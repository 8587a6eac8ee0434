import { expect, it } from "vitest";
import { escapeControls, maskTypedKeys } from "../../src/terminal/escape.ts";

it("text of others shows what would move the cursor, colour the screen or turn the text round", () => {
  const foreign = "a\u001b[31mred\u0007\n\t\u202eback\u009b1m\u0000";
  expect(escapeControls(foreign)).toBe("a\\x1b[31mred\\x07\\n\\t\\u202eback\\x9b1m\\x00");
});

it.each(["髙橋 花子", "Ελένη", "👩‍💻", "e\u0301", "שלום", "naïve"])(
  "foreign text %s stays as it is",
  (text) => {
    expect(escapeControls(text)).toBe(text);
  },
);

it("text of others lets no control character through", () => {
  const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;
  const all = Array.from({ length: 0x10000 }, (_, code) => `${String.fromCharCode(code)}a`);
  expect(control.test(all.join(""))).toBe(true);
  expect(control.test(escapeControls(all.join("")))).toBe(false);
});

const key = `ecm_us_${"Ab1-".repeat(10)}xyz`;

it("a typed key is known by its form or by its flag; other words stay", () => {
  const typed = `--api-key=${key}`;
  const masked = maskTypedKeys(`unknown option '${typed}'`, [typed]);
  expect(masked).toBe("unknown option '--api-key=ecm_us_…-xyz'");
  const told = "no contact has the key ada@example.com";
  expect(maskTypedKeys(told, ["--key", "ada@example.com"])).toBe(told);
});
