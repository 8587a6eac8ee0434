/** How often a property is tried. `PROPERTY_RUNS` is a factor: CI tries more. */
export const runs = (count: number): number => count * Number(process.env.PROPERTY_RUNS ?? 1);
