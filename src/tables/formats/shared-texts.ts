/** Reading: the texts that the cells of a workbook share, and how a text is put together of its parts. */
import type { InputFile } from "../text/source.ts";
import type { Archive } from "./archive.ts";
import { tooLargeError } from "./table.ts";
import { readXml } from "./xml.ts";

/** In characters. */
const maxSharedTextCharacters = 256 * 1024 ** 2;

/** @param path of the part that holds them, if there is one */
export async function readSharedTexts(
  archive: Archive,
  file: InputFile,
  path: string | undefined,
): Promise<string[]> {
  const texts: string[] = [];
  if (path === undefined) return texts;
  let characters = 0;
  const gatherer = new TextGatherer();
  await readXml(archive.read(path), file.name, {
    open(name) {
      if (name === "si") gatherer.start();
      gatherer.open(name);
    },
    text: (text) => gatherer.add(text),
    close(name) {
      gatherer.close(name);
      if (name !== "si") return;
      const text = gatherer.whole();
      characters += text.length + 1;
      if (characters > maxSharedTextCharacters) throw tooLargeError(file.name);
      texts.push(text);
    },
  });
  return texts;
}

/** The text of a cell, which may be in parts of several fonts; how it is pronounced is no part of it. */
export class TextGatherer {
  #text = "";
  #isInText = false;
  #isPronunciation = false;

  start(): void {
    this.#text = "";
  }

  open(name: string): void {
    if (name === "t") this.#isInText = true;
    if (name === "rPh") this.#isPronunciation = true;
  }

  add(text: string): void {
    if (this.#isInText && !this.#isPronunciation) this.#text += text;
  }

  close(name: string): void {
    if (name === "t") this.#isInText = false;
    if (name === "rPh") this.#isPronunciation = false;
  }

  whole(): string {
    return unescapeText(this.#text);
  }
}

/** Characters that XML cannot hold are written as `_x000D_`. */
export function unescapeText(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}
