/** A word as a POSIX shell takes it, for commands that messages show. */
export function shellWord(word: string): string {
  return /^[\w=.@:/%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The last words of a command, none of which is a flag: one that looks like a flag needs `--` before them. */
export function shellArguments(...words: string[]): string {
  const text = words.map(shellWord).join(" ");
  return words.some((word) => /^-./.test(word)) ? `-- ${text}` : text;
}
