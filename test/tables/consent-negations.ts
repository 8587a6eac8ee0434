/** What stands before or behind a phrase of consent and turns it round, in the languages of the tables. */
import { listNameWords, phraseKey, splitEntries } from "../../src/tables/consent/words.ts";

/** Words by which something is not, or is no more; and parts of words that do the same. */
export const negations = splitEntries(`
  no, not, non, never, none, without, un, dis, de, des, in, ex, anti, former, formerly, ended, end, end of, expired, revoked, withdrawn, withdrew, cancelled, canceled, denied, refused, declined, rejected, removed, lapsed, lost, missing, invalid,
  stop, stopped, terminated, until, no longer, previously, lack of, !, ¬, ≠, 🚫, ❌,
  kein, keine, keinen, nicht, nie, ohne, nein, ab, aus, ent, widerrufen, widerruf, entzogen, zurückgezogen, beendet, gekündigt, abgelehnt, verweigert, fehlt, abgelaufen, ehemals, bis,
  ne, pas, pas de, sans, jamais, aucun, dé, dés, ancien, retiré, retrait, révoqué, refusé, expiré, annulé, résilié, fin, plus,
  sin, nunca, ningún, de, des, dejó, retirado, revocado, cancelado, rechazado, caducado, fin de, ya no,
  senza, mai, nessun, dis, revocato, revoca, ritirato, rifiutato, annullato, scaduto, fine, non più,
  não, sem, nenhum, revogado, retirado, cancelado, recusado, expirado, fim,
  niet, geen, zonder, nooit, uit, af, ingetrokken, geweigerd, verlopen, beëindigd, opgezegd,
  inte, ej, icke, ingen, inget, inga, utan, aldrig, av, återkallad, återkallat, avslutad, nekad,
  ikke, intet, uden, aldri, uten, tilbagekaldt, trukket tilbage, tilbakekalt, trukket, afvist, avslått, udløbet, opsagt,
  ei, ilman, ei koskaan, peruttu, peruutettu, evätty, päättynyt,
  nie, bez, brak, nigdy, cofnięta, cofnięte, wycofana, wycofane, odwołana, wygasła, anulowana,
  ne, bez, není, nikdy, odvolán, odvolaný, odebrán, zrušen, vypršel,
  nie je, nikdy, odvolaný, zrušený, vypršal,
  nem, nincs, nélkül, soha, visszavont, visszavonva, lejárt, törölt,
  nu, fără, niciodată, retras, revocat, anulat, expirat,
  не, без, няма, никога, оттеглено, отменено, изтекло,
  nije, nema, nikad, povučen, povučena, opozvan, istekao,
  ni, brez, nikoli, preklican, preklicano, umaknjen, potekel,
  μη, μην, δεν, χωρίς, καμία, ποτέ, ανακλήθηκε, ανάκληση, έληξε,
  değil, yok, olmayan, asla, iptal, iptal edildi, geri çekildi, reddedildi, sona erdi,
  нет, никогда, отозвано, отозван, отменено, истекло, отказ,
  немає, ніколи, відкликано, скасовано, відмова,
  nėra, be, niekada, atšauktas, atšauktas, nustojo, nebe,
  nav, nekad, atsaukts, atsaukta, beidzies, vairs,
  puudub, ilma, mitte, mitte kunagi, tühistatud, tagasi võetud, lõppenud,
  なし, ない, しない, 不, 未, 非, 無, 撤回, 取消, 取り消し, 停止, 終了, 拒否, 解除,
  没有, 无, 取消, 撤销, 终止, 拒绝, 停止,
  안함, 않음, 없음, 미, 비, 철회, 취소, 거부, 해지, 종료,
  غير, لا, بدون, عدم, سحب, إلغاء, انتهى,
  לא, אין, ללא, ביטול, בוטל, הוסר, פג,
  không, chưa, rút lại, hủy, huỷ, từ chối, hết hạn,
  tidak, tanpa, belum, ditarik, dibatalkan, ditolak, berakhir, jangan`);

/** Every phrase of the tables, with what it says. */
export const namePhrases = (["optIn", "optOut"] as const).flatMap((kind) =>
  listNameWords(({ names }) => names[kind]).map((phrase) => [phrase, kind] as const),
);

const phrases = new Set(namePhrases.map(([phrase]) => phraseKey(phrase)));

/** Whether the text is a phrase of the tables itself, such as `no consent`. */
export function isPhrase(text: string): boolean {
  return phrases.has(phraseKey(text));
}
