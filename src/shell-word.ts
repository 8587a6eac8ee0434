/** A word as a POSIX shell takes it, for commands that messages show. */
export function quoteShellWord(word: string): string {
  return /^[\w=.@:/%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
