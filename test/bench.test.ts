/** The measurements call commands and flags that there are. They are not run here: that takes minutes. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { ecmWith, temporaryHome } from "./support/ecm.ts";

const folder = fileURLToPath(new URL("../bench/", import.meta.url));
const scripts = readdirSync(folder).filter((name) => name.endsWith(".mjs"));

/** The words of each array that calls `ecm`, as far as they are literal: `[program, "export", "--output-file", out]`. */
const calls = scripts.flatMap((script) =>
  Array.from(
    readFileSync(folder + script, "utf8").matchAll(/\[(?:program, )?("[a-z][^[\]]*)\]/g),
    ([, list]) => ({
      script,
      words: Array.from(list!.matchAll(/"([^"]*)"/g), ([, word]) => word!),
    }),
  ),
);

interface Described {
  command: string;
  flags: { name: string; short?: string }[];
}

it("bench/ calls commands and flags that there are", async () => {
  const ecm = ecmWith(await temporaryHome());
  const describe = async (...words: string[]) =>
    JSON.parse((await ecm(["commands", ...words, "--json"])).stdout);
  const { globalFlags, commands } = (await describe()) as {
    globalFlags: Described["flags"];
    commands: { command: string }[];
  };
  const unknown: string[] = [];
  let checked = 0;
  for (const { script, words } of calls) {
    const command = commands
      .map((each) => each.command.split(" ").filter((word) => /^[a-z-]+$/.test(word)))
      .filter((path) => path.every((word, at) => words[at] === word))
      .at(-1);
    if (!command) continue;
    checked++;
    const { flags } = (await describe(...command)) as Described;
    const known = [...globalFlags, ...flags].flatMap(({ name, short }) => [name, short]);
    const flagsTyped = words.filter((word) => /^--?[a-z]/.test(word));
    unknown.push(...flagsTyped.filter((word) => !known.includes(word)).map((word) => `${script}: ${word}`));
  }
  expect(checked).toBeGreaterThan(10);
  expect(unknown).toEqual([]);
});
