/**
 * Words of consent. A name that holds one of them anywhere, and is no whole phrase of the
 * other tables, is not guessed at: if its cells could be answers, whoever imports is asked.
 * Parts of words: `abonn` is in `Abonnentenliste`.
 */
import type { WordTable } from "./languages.ts";

export const hintWords: WordTable = {
  english: `to be removed, remove me, mailstop, stopmail, right to object, object to, emailed, mailed to, receive, consent, optin, optout, opted, subscri, unsub, newsletter, newsmail, mailing, mailout, mailshot, marketing, permission, permitted, gdpr, ccpa, casl, blacklist, blocklist, blacklisted, suppress, bounce, complain,
    donot, dont email, dont mail, dont contact, spam, objection, objected, objects to, withdrawn, withdrew, revoked, unwanted, agree, promotional, promotion, contactable, emailable, mailable, mail ok, email ok, robinson`,
  german: `verbot, erhalten, empfangen, empfang, verzicht, untersagt, einwillig, zustimm, zugestimm, einverstand, einverständ, erlaubnis, abonn, newsletter, newsmail, rundmail, infomail, abgemeldet, abmeld, angemeldet, anmeldung, abbestell, ausgetragen, austrag, widerruf, widerspr, widersproch, sperre, gesperrt, sperrvermerk,
    sperrliste, werbung, werbe, dsgvo, datenschutz, mailverteiler, verteiler, anschreiben, kontaktieren, unerwünscht, erwünscht, mailempfang`,
  french: `souhaite, recevoir, stop pub, consent, abonn, inscri, newsletter, infolettre, lettre d'information, rgpd, publicité, prospection, démarchage, opposition, s'oppose, opposé, refus, retrait, révoqu, autoris, accord, sollicit, contactable, blacklist`,
  spanish: `recibir, quiere, consent, suscri, suscrip, inscri, boletín, publicidad, rgpd, lopd, autoriz, permiso, baja, oposición, opone, rechaza, revoca, retira, comunicaciones comerciales, no contactar, no enviar, lista negra`,
  italian: `ricevere, desidera, consens, acconsent, iscritt, iscrizion, abbon, newsletter, pubblicità, privacy, autorizz, permesso, opposizion, oppone, rifiut, revoc, ritir, non contattare, non inviare, lista nera`,
  portuguese: `receber, deseja, consent, inscri, subscri, cadastr, assinatur, assinante, boletim, publicidade, lgpd, autoriz, permiss, oposição, opõe, recusa, revog, retirad, não enviar, não contatar, lista negra`,
  dutch: `mailen, ontvang, verbod, toestemm, ingeschreven, inschrij, uitgeschreven, uitschrij, geabonn, abonn, aangemeld, aanmeld, afgemeld, afmeld, nieuwsbrief, nieuwsbrieven, reclame, bezwaar, intrek, ingetrok, weiger, avg toestemming, zwarte lijst`,
  swedish: `ta emot, förbud, samtyck, prenumer, nyhetsbrev, utskick, reklam, marknadsför, avregistr, avanmäl, anmäld, återkall, spärr, medgiv, godkänn`,
  danish: `modtag, forbud, frabed, samtyk, tilmeld, afmeld, frameld, nyhedsbrev, abonn, markedsfør, reklame, tilbagekald, tilbagetruk, tilladelse`,
  norwegian: `motta, forbud, frabed, samtyk, påmeld, avmeld, nyhetsbrev, abonn, markedsfør, reklame, tilbakekal, trukket tilbake, tillatelse, reservert`,
  finnish: `vastaanot, suoramark, suostu, uutiskirje, tilaaja, tilaus, tilannut, markkinoin, peruut, peruttu, kielto, kieltä, mainos`,
  polish: `otrzymyw, zakaz, zgod, zgód, subskry, newsletter, zapisan, wypisan, rezygn, sprzeciw, marketing, cofni, wycof, reklam, rodo, wyrejestr`,
  czech: `zákaz, dostávat, souhlas, odběr, odebír, přihláš, odhláš, newsletter, zasílání, odvolá, odvolán, námitk, reklam, obchodní sdělení`,
  slovak: `súhlas, odber, odober, prihlás, odhlás, newsletter, zasielan, odvola, námietk, reklam`,
  hungarian: `hozzájárul, feliratkoz, leiratkoz, hírlevél, visszavon, tiltó, tiltakoz, reklám, beleegyez`,
  romanian: `consimț, abonat, dezabon, abonament, newsletter, acord, retras, retrage, publicitate, opoziți`,
  bulgarian: `съгласи, абонир, абонамент, отпис, бюлетин, оттегл, възраж, реклам`,
  croatian: `privol, pristan, suglasn, pretpla, odjav, prijavljen, newsletter, povuč, prigovor, reklam`,
  slovenian: `soglas, privolit, naročen, naročn, odjav, prijavljen, umakn, preklic, ugovor, oglaš`,
  greek: `συγκατ, συναιν, συναίν, εγγεγραμ, εγγραφ, συνδρομ, απεγγ, ενημερωτικ, ανάκλησ, ανακλ, εναντίωσ, διαφήμισ`,
  turkish: `izin, izni, onay, abone, bülten, rıza, ileti, iptal, reddet, kara liste, kvkk, pazarlama`,
  russian: `соглас, подпис, отпис, рассыл, отозва, отзыв, реклам, отказ, возраж, чёрный список`,
  ukrainian: `згод, згоду, підпис, відпис, розсил, відклик, реклам, відмов, запереч, чорний список`,
  lithuanian: `sutik, prenumer, naujienlaišk, atsisak, atšauk, reklam`,
  latvian: `piekrit, piekriš, abon, jaunum, atteic, atteik, atsauk, reklām`,
  estonian: `nõusolek, nõustu, uudiskiri, uudiskirja, tellija, loobu, tühista, turundus, reklaam`,
  japanese: `配信, 購読, 受信, メルマガ, メールマガジン, ニュースレター, 同意, 承諾, 許諾, 許可, 希望, 停止, 解除, 拒否, 退会, 撤回, 取消, 不要, 不可, オプトイン, オプトアウト, 案内, ブラックリスト`,
  chinese: `订阅, 訂閱, 退订, 退訂, 同意, 许可, 許可, 接收, 拒收, 拒绝, 拒絕, 撤回, 撤销, 撤銷, 取消, 黑名单, 黑名單, 营销, 行銷, 勿扰, 勿擾, 推广`,
  korean: `구독, 수신, 동의, 거부, 철회, 해지, 탈퇴, 뉴스레터, 마케팅, 광고, 블랙리스트`,
  arabic: `استلام, موافق, اشتراك, مشترك, النشرة, تسويق, إلغاء, سحب`,
  hebrew: `מסכים, הרשמה, קבלת, הסכמ, דיוור, ניוזלטר, הסר, מנוי, פרסומ, שיווק`,
  vietnamese: `đồng ý, đăng ký, nhận tin, nhận email, bản tin, từ chối, quảng cáo, tiếp thị`,
  indonesian: `menyetujui, menerima, setuju, langganan, newsletter, pemasaran, buletin, berhenti, persetujuan`,
};

/** Names that may be of consent when they stand alone: as words within another name they say nothing. */
export const aloneHints: WordTable = {
  english:
    "stop, stopped, stops, block, blocked, exclude, excluded, exclusion, left, gone, removed, delete, deleted, disabled, deactivated, out, off, remove, opt, opted, allowed, contactable, do not, dont, no, not, never, leave alone, not interested",
  german:
    "stopp, stop, raus, sperre, sperren, gesperrt, gelöscht, deaktiviert, ausgeschlossen, ausschluss, erlaubt, verboten, nein, nicht, kein interesse",
  french: "stop, bloqué, exclu, exclue, supprimé, désactivé, retiré, autorisé, interdit, non",
  spanish: "stop, bloqueado, excluido, eliminado, desactivado, permitido, prohibido, no",
  italian: "stop, bloccato, escluso, eliminato, disattivato, permesso, vietato, no",
  portuguese: "bloqueado, excluído, removido, desativado, permitido, não",
  dutch: "stop, geblokkeerd, uitgesloten, verwijderd, gedeactiveerd, toegestaan, niet, nee",
  swedish: "stopp, spärrad, spärr, blockerad, utesluten, borttagen, tillåten, nej",
  danish: "stop, blokeret, udelukket, slettet, tilladt, nej",
  norwegian: "stopp, blokkert, utelukket, slettet, tillatt, nei",
  finnish: "esto, estetty, poistettu, kielto, lupa, ei",
  polish: "stop, zablokowany, wykluczony, usunięty, nie",
  czech: "stop, zablokován, vyloučen, smazán, ne",
  slovak: "stop, zablokovaný, vylúčený, zmazaný, nie",
  hungarian: "stop, tiltás, tiltva, letiltva, törölt, kizárt, nem",
  romanian: "stop, blocat, exclus, șters, nu",
  bulgarian: "стоп, блокиран, изключен, изтрит, не",
  croatian: "stop, blokiran, isključen, obrisan, ne",
  slovenian: "stop, blokiran, izključen, izbrisan, ne",
  greek: "στοπ, αποκλεισμένος, εξαιρείται, όχι",
  turkish: "dur, engelli, engellendi, hariç, silindi, hayır",
  russian: "стоп, заблокирован, исключён, удалён, нет",
  ukrainian: "стоп, заблоковано, виключено, видалено, ні",
  lithuanian: "stop, užblokuotas, pašalintas, ne",
  latvian: "stop, bloķēts, dzēsts, nē",
  estonian: "stopp, blokeeritud, kustutatud, ei",
  japanese: "停止, 除外, 拒否, 削除, 不可, 禁止",
  chinese: "停止, 排除, 删除, 刪除, 禁止",
  korean: "중지, 제외, 차단, 삭제, 금지",
  arabic: "توقف, محظور, محذوف, لا",
  hebrew: "עצור, חסום, נמחק, לא",
  vietnamese: "dừng, chặn, đã xóa, không",
  indonesian: "berhenti, diblokir, dihapus, tidak",
};

/**
 * With a word for e-mail in the same name, these speak of consent too: `Send me e-mails`, `No mail please`.
 */
export const withEmailHints: string[] =
  "ok, okay, yes, no, not, never, dont, don't, stop, without, accept, accepts, accepted, allow, allows, allowed, may, can, want, wants, wanted, receive, receives, send, sends, refuse, refused, refuses, reject, rejected, decline, declined, declines, exclude, excluded, remove, removed, block, blocked, disabled, suspended, out, off, in, erlaubt, kein, keine, keinen, nicht, nein, ja, senden, stopp, accepte, refuse, pas, non, sans, acepta, sin, rechaza, accetta, senza, rifiuta, aceita, sem, recusa, geen, niet, nee, inga, ej, inte, ingen, intet, ikke, ei, brak, nie, bez, ne, nem, fără, nu, без, не, нет, yok, χωρίς, ні".split(
    ", ",
  );

/** The words for e-mail that those stand beside. */
export const emailHints: string[] =
  "email, emails, e mail, e mails, mail, mails, contact, kontakt, mailings, courriel, courriels, correo, correos, epost, e post, eposta, e posta, mejl, sähköposti, почта, имейл, news, offers, angebote, updates, communications, infos".split(
    ", ",
  );
