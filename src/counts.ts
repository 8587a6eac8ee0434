/** Numbers as messages say them; data has plain digits. Pure. */

/** `1,204`. */
export function formatCount(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 row`, `1,204 rows`. */
export function formatCounted(number: number, one: string, several = `${one}s`): string {
  return `${formatCount(number)} ${number === 1 ? one : several}`;
}
