/** Inputs of tools → words of a command. */

/** None where the input is left out. */
export function valueFlag(flag: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [`${flag}=${value}`];
}

/** The same flag for each value. */
export function repeatedFlag(flag: string, values: readonly string[] = []): string[] {
  return values.map((value) => `${flag}=${value}`);
}
