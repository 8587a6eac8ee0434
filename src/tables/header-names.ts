/** Reading: names of columns, and what they mean without being told. */
import { findNearestName, foldName, toLooseName } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { formatQuotedNames } from "../counts.ts";
import { splitNames } from "./cells.ts";
import type { Target } from "./rows.ts";

/** Names of a column that holds e-mail addresses, loosely written. */
const keyNames = new Set(
  splitNames(
    `email, mail, emailaddress, mailaddress, emailaddresses, emailid, contactemail, useremail, customeremail,
  subscriberemail, primaryemail, メールアドレス, メール, eメール, emailアドレス, 电子邮件, 电子邮箱, 邮箱, 電子郵件, 이메일, emailadresse,
  mailadresse, epostadresse, epost, emailadres, adresseemail, adressemail, adresseélectronique,
  courriel, correo, correoelectrónico, correoelectronico, direccióndecorreo, indirizzoemail,
  indirizzodiposta, endereçodeemail, enderecodeemail, sähköposti, sähköpostiosoite, эл.почта,
  электроннаяпочта`,
  ).map(toLooseName),
);

const firstNames = `first name, firstname, fname, given name, forename, vorname, prénom, prenom, nombre, nome, voornaam,
  förnamn, fornavn, etunimi, imię, имя, 名`;

const lastNames = `last name, lastname, lname, surname, family name, nachname, familienname, nom, nom de famille, apellido,
  apellidos, cognome, sobrenome, achternaam, efternamn, etternavn, efternavn, sukunimi, nazwisko,
  фамилия, 姓`;

const predefined = new Map([
  ...splitNames(firstNames).map((name) => [toLooseName(name), "firstName"] as const),
  ...splitNames(lastNames).map((name) => [toLooseName(name), "lastName"] as const),
]);

/** Whether a column of this name holds keys. @param keyName the structure's own name of the key */
export function isKeyName(name: string, keyName: string, keyType: string): boolean {
  const folded = foldName(name);
  if (folded === "") return false;
  if (folded === foldName(keyName) || folded === "key" || folded === "ecm:key") return true;
  return isEmailKey(keyType) && keyNames.has(toLooseName(name));
}

/** Whether a column of this name holds the service's ids: our own exports' name for it. */
export function isIdName(name: string): boolean {
  const trimmed = name.trim().toLowerCase();
  return trimmed === "_id" || trimmed === "ecm:_id";
}

/** The `predefinedField` that a column of this name fills. */
export function findPredefinedField(name: string): "firstName" | "lastName" | undefined {
  return predefined.get(toLooseName(name));
}

/** Columns of this name: written so exactly, else without regard to case. */
export function findColumns(column: string, names: readonly string[]): number[] {
  const exact = findIndexes(names, (name) => name === column);
  return exact.length > 0 ? exact : findIndexes(names, (name) => foldName(name) === foldName(column));
}

export function findIndexes(names: readonly string[], holds: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (holds(name) ? [index] : []));
}

/** What to do where there is no column of a name. */
export function suggestColumn(column: string, names: readonly string[]): string {
  const near = findNearestName(column, names);
  return near ? `Did you mean ${JSON.stringify(near)}?` : `Columns: ${formatQuotedNames(names)}`;
}

const targetWords = ["key", "lists", "tags", "ignore"] as const;

/** A target that is no field: `key`, `tags`, `consent=opt-in`. Undefined for any other text. */
export function parseTargetWord(text: string): Target | undefined {
  const word = foldName(text);
  const consent = /^consent(?:=(opt-in|opt-out))?$/.exec(word);
  if (consent) return { kind: "consent", reading: consent[1] as "opt-in" | "opt-out" | undefined };
  const kind = targetWords.find((each) => each === word);
  return kind && { kind };
}

/** Words that name no field. */
export function isTargetWord(text: string): boolean {
  return parseTargetWord(text) !== undefined;
}
