/** Reading: fields that a column is likely to be meant for. They are only ever proposed to a person. */
import type { FieldDefinition } from "../../wire.ts";
import { findNearestName, toLooseName } from "../names.ts";

/** Words for one thing; each column and each field of a group may be meant for the other. */
const groups = [
  [
    "company",
    "firma",
    "unternehmen",
    "organisation",
    "organization",
    "société",
    "empresa",
    "azienda",
    "bedrijf",
  ],
  ["city", "ort", "stadt", "wohnort", "town", "ville", "ciudad", "città", "plaats"],
  ["country", "land", "pays", "país", "paese"],
  [
    "phone",
    "telefon",
    "tel",
    "telephone",
    "phone number",
    "telefonnummer",
    "téléphone",
    "teléfono",
    "telefono",
  ],
  ["mobile", "handy", "mobil", "mobile phone", "cell", "cell phone", "portable", "móvil", "cellulare"],
  [
    "zip",
    "plz",
    "postleitzahl",
    "postcode",
    "postal code",
    "zip code",
    "code postal",
    "código postal",
    "cap",
  ],
  ["street", "straße", "strasse", "rue", "calle", "via", "straat"],
  ["salutation", "anrede", "civilité", "tratamiento", "aanhef"],
  ["birthday", "geburtstag", "geburtsdatum", "date of birth", "birthdate", "date de naissance", "compleanno"],
  ["first name", "first"],
  ["last name", "last"],
].map((words) => new Set(words.map(toLooseName)));

/** The field of a like name or with a word for the same; undefined where none is likely. */
export function findLikeField(name: string, fields: readonly FieldDefinition[]): FieldDefinition | undefined {
  const loose = toLooseName(name);
  const group = groups.find((words) => words.has(loose));
  const same = group && fields.find(({ label }) => group.has(toLooseName(label)));
  if (same) return same;
  const near = findNearestName(
    name,
    fields.map(({ label }) => label),
  );
  // Of a short name, and of one that differs in its numbers, another field is meant.
  const digits = (text: string) => text.replace(/\D+/g, "");
  if (near === undefined || loose.length < 4 || digits(near) !== digits(name)) return undefined;
  return fields.find(({ label }) => label === near);
}
