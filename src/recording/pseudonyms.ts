/**
 * Stand-ins of the same shape for what is somebody's: the same one wherever it occurs, also in another letter
 * case. They are keyed hashes, so that a guess cannot be tried without the key. Pure.
 */
import { createHmac } from "node:crypto";

export interface Pseudonyms {
  id(text: string): string;
  /** Of an address, an id, or any other text. Nothing and blanks stay what they are. */
  text(text: string): string;
  /** Of the name of a member or a parameter. */
  name(text: string): string;
}

const idForm = /^[0-9a-f]{24}$/i;
const addressForm = /^[^\s@]+@[^\s@]+$/u;

/** @param key secret: whoever has it can try guesses */
export function createPseudonyms(key: Uint8Array | string): Pseudonyms {
  const hash = (kind: string, text: string, length: number) =>
    createHmac("sha256", key).update(`${kind}\0${text.toLowerCase()}`).digest("hex").slice(0, length);
  const id = (text: string) => hash("id", text, 24);
  return {
    id,
    name: (text) => `member-${hash("name", text, 8)}`,
    text(text) {
      if (text === "") return "";
      if (text.trim() === "") return " ";
      if (idForm.test(text)) return id(text);
      const standIn = addressForm.test(text)
        ? `person-${hash("address", text, 10)}@example.com`
        : `text-${hash("text", text, 10)}`;
      return withCase(standIn, text);
    },
  };
}

/** Keeps whether a text is in small letters, in capitals, or in both. */
function withCase(standIn: string, text: string): string {
  if (text === text.toLowerCase()) return standIn;
  return text === text.toUpperCase() ? standIn.toUpperCase() : standIn[0]!.toUpperCase() + standIn.slice(1);
}
