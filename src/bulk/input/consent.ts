/** Reading: what a row's own file says of consent. In doubt a person is not subscribed. */
import { foldName } from "./names.ts";

/**
 * How a consent column speaks. `subscribed`: its words say yes or no to mail; `status`: so too, but an empty cell says
 * nothing; `optedOut`: its words say yes or no to having left; `evidence`: whatever stands in the cell speaks against
 * mail; `always`: the column's presence does.
 */
export type ConsentRule = "subscribed" | "status" | "optedOut" | "evidence" | "always";

/** Words for yes, and for being subscribed. */
const yes = words(
  "yes, y, true, t, 1, on, x, ✓, ✔, ok, subscribed, subscriber, subscribe, active, confirmed, opted in, opt in, optin",
  "double opt in, single opt in, express, explicit, implied, granted, given, consented, accepted, allowed",
  "ja, j, wahr, aktiv, abonniert, angemeldet, bestätigt, eingewilligt",
  "oui, o, vrai, actif, abonné, abonnée, inscrit, inscrite, confirmé, confirmée",
  "sí, si, verdadero, activo, activa, suscrito, suscrita, confirmado, confirmada",
  "vero, attivo, iscritto, iscritta, confermato, sim, verdadeiro, ativo, inscrita, inscrito",
  "waar, actief, ingeschreven, geabonneerd, sant, aktivt, prenumererar, kyllä, tosi, tak, prawda, aktywny",
  "да, активен, подписан, подписана, はい, 有効, 購読, 購読中, 登録, 登録済み, 配信中, 是, 已订阅, 已訂閱, 예, 구독",
);

/** Words for no, where a column asks whether someone has left. */
const no = words(
  "no, n, false, f, 0, off, never, none, not unsubscribed, subscribed, active",
  "nein, falsch, non, faux, falso, não, nao, nee, onwaar, nej, falskt, ei, epätosi, nie, fałsz, нет, いいえ, 否, 아니요",
);

function words(...lines: string[]): Set<string> {
  return new Set(lines.flatMap((line) => line.split(", ")).map(foldWord));
}

function foldWord(word: string): string {
  return foldName(word).replace(/[-_]+/g, " ");
}

/**
 * Why the cell says that the person is not subscribed, in the file's words; undefined when it says that all is well.
 * An unknown word, and an empty cell where a yes is asked for, count as not subscribed.
 *
 * @param cell undefined when the row has no such cell
 */
export function refusalIn(rule: ConsentRule, column: string, cell: string | undefined): string | undefined {
  const written = cell?.trim() ?? "";
  const word = foldWord(written);
  const said = `${column}: ${written === "" ? "(empty)" : written}`;
  switch (rule) {
    case "subscribed":
      return yes.has(word) ? undefined : said;
    case "status":
      return word === "" || yes.has(word) ? undefined : said;
    case "optedOut":
      return word === "" || no.has(word) ? undefined : said;
    case "evidence":
      return word === "" ? undefined : said;
    case "always":
      return said;
  }
}
