import fc from "fast-check";

/** How often a property is tried. `PROPERTY_RUNS` is a factor: CI tries more. */
export const runs = (count: number): number => count * Number(process.env.PROPERTY_RUNS ?? 1);

/** Any character, half of them of Latin alphabets and controls. The library's own `binary` takes seconds to begin. */
const anyCharacter = fc
  .oneof(fc.nat(0x2ff), fc.nat(0x10ffff - 0x800))
  .map((place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800));

/** Texts of any characters. */
export const anyText = (length: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: anyCharacter, ...length });
