/** `--text`: words that somebody's key or fields hold, decided here. Pure. */
import { UsageError } from "../errors.ts";
import type { LocalCondition } from "./conditions.ts";

/**
 * Every word must be in the key or in a field, in any of them; letter case and accents do not matter.
 * @throws UsageError for a text without a word
 */
export function createTextCondition(text: string): LocalCondition {
  const words = fold(text).split(/\s+/).filter(Boolean);
  if (words.length === 0)
    throw new UsageError("--text is empty", "Name what to look for, such as --text Ada");
  return {
    needs: ["key", "fields"],
    wanted: { text: words },
    holds({ key = "", fields = [] }) {
      const values = [key, ...fields.map(({ value }) => value)].map((value) => fold(String(value ?? "")));
      return words.every((word) => values.some((value) => value.includes(word)));
    },
  };
}

function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
