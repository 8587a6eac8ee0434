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
