/**
 * How often a property is tried: few times in the quick suite, more
 * where there is time (`PROPERTY_RUNS` is a factor).
 */
export const runs = (count: number): number => count * Number(process.env.PROPERTY_RUNS ?? 1);
