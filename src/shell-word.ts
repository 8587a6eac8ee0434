/** A word as a POSIX shell takes it, for commands that messages show. */
export function quoteShellWord(word: string): string {
  return /^[\w=.@:/%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The last words of a command, none of which is a flag: one that looks like a flag needs `--` before them.
 */
export function formatShellArguments(...words: string[]): string {
  const text = words.map(quoteShellWord).join(" ");
  return words.some((word) => /^-./.test(word)) ? `-- ${text}` : text;
}

/** The words of a line that `quoteShellWord` made; undefined where a shell would do more than split it. */
export function splitShellWords(line: string): string[] | undefined {
  const words: string[] = [];
  for (const piece of line.trim().match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? []) {
    if (!/^(?:'[^']*'|\\'|[\w=.@:/%+,-])+$/.test(piece)) return undefined;
    words.push(piece.replace(/'([^']*)'|\\(')/g, (_whole, quoted, quote) => quoted ?? quote));
  }
  return words;
}
