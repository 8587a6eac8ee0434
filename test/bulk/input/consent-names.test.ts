/** A name of a column is understood as a whole or not at all, in every language and however it is written. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { phraseKey } from "../../../src/bulk/input/consent-fold.ts";
import { consentNameOf, hasHint } from "../../../src/bulk/input/consent-names.ts";
import { cellWords } from "../../../src/bulk/input/consent-words/cells.ts";
import { entriesOf, languages, splitEntries } from "../../../src/bulk/input/consent-words/languages.ts";
import { aroundWords, reasonWords } from "../../../src/bulk/input/consent-words/names-around.ts";
import { optInNames } from "../../../src/bulk/input/consent-words/names-opt-in.ts";
import { optOutNames } from "../../../src/bulk/input/consent-words/names-opt-out.ts";
import { statusNames } from "../../../src/bulk/input/consent-words/names-status.ts";

/** Words by which something is not, or is no more; and parts of words that do the same. */
const negations = splitEntries(`
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

const named = [
  ...entriesOf(optInNames).map((phrase): [string, "optIn" | "optOut"] => [phrase, "optIn"]),
  ...entriesOf(optOutNames).map((phrase): [string, "optIn" | "optOut"] => [phrase, "optOut"]),
];

describe("the tables", () => {
  test.each([
    ["opt-in", optInNames],
    ["opt-out", optOutNames],
    ["status", statusNames],
    ["around", aroundWords],
  ])("%s: every language has its line", (_name, table) => {
    for (const language of languages) expect(splitEntries(table[language]), language).not.toHaveLength(0);
    expect(languages.length).toBeGreaterThan(20);
    for (const language of languages) expect(cellWords[language].gone, language).not.toBe("");
  });

  test("no phrase says two things", () => {
    const optOut = new Set(entriesOf(optOutNames).map(phraseKey));
    const status = new Set(entriesOf(statusNames).map(phraseKey));
    const both = entriesOf(optInNames).filter((phrase) => optOut.has(phraseKey(phrase)));
    const alsoStatus = [...entriesOf(optInNames), ...entriesOf(optOutNames)].filter((phrase) =>
      status.has(phraseKey(phrase)),
    );
    expect({ both, alsoStatus }).toEqual({ both: [], alsoStatus: [] });
  });

  test("no word that says nothing is a negation, an end, or the start of one", () => {
    const words = new Set(negations.map(phraseKey));
    const wrong = [...entriesOf(aroundWords), ...entriesOf(reasonWords)].filter((word) =>
      words.has(phraseKey(word)),
    );
    expect(wrong).toEqual([]);
  });
});

const dashes = [
  "-",
  "_",
  " ",
  "  ",
  "\u2010",
  "\u2011",
  "\u2013",
  "\u2014",
  "\u00a0",
  "\uff0d",
  "\ufe63",
  " - ",
];
const marks = ["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u200e"];

const upper = (text: string) => text.toUpperCase();
const turkish = (text: string) => text.toLocaleUpperCase("tr");
const title = (text: string) => text.replace(/(^|[\s-])(\p{L})/gu, (letters) => letters.toUpperCase());
const wide = (text: string) =>
  text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));

/** A text as others write it. */
const written = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(
      text,
      fc.constantFrom(...dashes),
      fc.constantFrom((each: string) => each, upper, turkish, title, wide),
      fc.option(fc.tuple(fc.nat(), fc.constantFrom(...marks))),
    )
    .map(([plain, dash, letters, mark]) => {
      const cased = letters(plain).replaceAll(" ", dash);
      if (!mark) return cased;
      const at = mark[0] % (cased.length + 1);
      return cased.slice(0, at) + mark[1] + cased.slice(at);
    });

describe("names", () => {
  test("every phrase is understood, in any letter case, with any dash and any invisible mark", () => {
    fc.assert(
      fc.property(
        fc
          .constantFrom(...named)
          .chain(([phrase, kind]) => fc.tuple(written(fc.constant(phrase)), fc.constant(kind))),
        ([name, kind]) => {
          expect(consentNameOf(name), JSON.stringify(name)).toBe(kind);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("a negation or an end before or behind a phrase never leaves it what it was", () => {
    const around = ["", ...entriesOf(aroundWords)];
    fc.assert(
      fc.property(
        fc.constantFrom(...named),
        fc.constantFrom(...negations),
        fc.constantFrom(...around),
        fc.constantFrom(...around),
        fc.boolean(),
        fc.constantFrom(...dashes, ""),
        fc.constantFrom((each: string) => each, upper, turkish, title, wide),
        ([phrase, kind], negation, before, after, isBefore, dash, letters) => {
          const middle = isBefore ? [negation, phrase] : [phrase, negation];
          const words = [before, ...middle, after].filter((word) => word !== "");
          const name = letters(words.join(" ")).replaceAll(" ", dash === "" ? " " : dash);
          expect(consentNameOf(name), JSON.stringify(name)).not.toBe(kind);
        },
      ),
      { numRuns: 20_000 },
    );
  });
});
