/** A word as a POSIX shell takes it, for commands that messages show. */
export function shellWord(word: string): string {
  return /^[\w=.@:/%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
