/**
 * What a cell says, by language. Letter case, accents on Latin letters,
 * blanks, dashes and underscores make no difference.
 */
import { asianCells } from "./cells-asia.ts";
import { easternCells } from "./cells-east.ts";
import { westernCells } from "./cells-west.ts";
import type { CellWords, Language } from "./languages.ts";

export const cellWords: Record<Language, CellWords> = { ...westernCells, ...easternCells, ...asianCells };

/** Signs of any language. They are compared as they are written. */
export const signs = {
  yes: "1, 1.0, x, ✓, ✔, √, ☑, ✅, ○, ◯, 〇, ●, ◎, +",
  no: "0, 0.0, ×, ✕, ❌, ☐, ☓",
  /** Written for "nothing here". */
  empty: "-, –, —, ―, n/a, na, null, none, nil, \\n, nan, (empty), (blank), (leer), (vide), (vacío), .",
};

/** Words for gone that are also names of places and people, or words of other trades. */
export const ambiguousGone =
  "baja, spam, bounce, abuse, stop, suppression, complaint, opposition, queja, rebote, plainte, reservert, 苦情";

/**
 * Words that may stand around a word for gone in a cell and do not
 * change it: `User unsubscribed via link on 3 May`.
 */
export const aroundGone =
  "user, contact, customer, member, person, subscriber, he, she, they, has, have, was, is, been, on, at, via, by, link, email, e mail, mail, newsletter, list, the, from, himself, herself, themselves, in, date, am, per, le, el, il, op, den, dnia, dne, um, hat, sich, kunde, kontakt, kontaktperson, selbst";
