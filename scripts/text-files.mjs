/** Lets a module import a file as its text, as Vite does: `import page from "./page.html?raw"`. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

const ending = "?raw";

export const textFiles = {
  name: "text files",
  resolveId(source, importer) {
    return source.endsWith(ending) ? resolve(dirname(importer), source) : undefined;
  },
  async load(id) {
    if (!id.endsWith(ending)) return undefined;
    const text = await readFile(id.slice(0, -ending.length), "utf8");
    return `export default ${JSON.stringify(text)};`;
  },
};
