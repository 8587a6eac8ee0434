/**
 * What a cell says, by language. Letter case, accents on Latin letters, blanks, dashes and underscores make
 * no difference.
 */
import type { Language } from "./languages.ts";

export interface CellWords {
  /** Answers what the column's name asks, as `no` does; all others speak for themselves. */
  yes: string;
  no: string;
  /** As good as a yes, and a word of subscription besides. */
  active: string;
  /** The person is mailed. */
  subscribed: string;
  /** Unmistakably gone: such a word makes a status column a consent column. */
  gone: string;
  /** Not mailed, in a column that speaks of consent; in any other it may mean something else. */
  notSubscribed: string;
}

export const cellWords: Record<Language, CellWords> = {
  english: {
    yes: "yes, y, true, t, on, ok, okay, in",
    no: "no, n, false, f, off, never, unchecked, disabled",
    active:
      "active, enabled, confirmed, double, single, express, explicit, implied, implicit, granted, given, consented, accepted, accept, agreed, approved, checked, valid, verified, deliverable, direct",
    subscribed: `subscribed, subscriber, subscribe, opted in, opt in, double opt in, single opt in, confirmed opt in, allow, allowed, resubscribed, re subscribed, not unsubscribed, not opted out,
      not bounced, not suppressed, consent given`,
    gone: `unsubscribed, unsubscribe, unsub, unsubs, opted out, opt out, global unsubscribe, unsubscribed from all, no longer subscribed, no longer a subscriber, subscription cancelled, subscription canceled,
      cancelled subscription, canceled subscription, cleaned, bounced, bounce, hard bounce, hard bounced, complained, complaint, complaint fbl, spam, spam complaint, spam report, marked as spam, reported spam, reported as spam, abuse,
      suppressed, suppression, blacklisted, blacklist, blocklisted, blocklist, do not email, do not e mail, do not mail, do not contact, do not send, do not market, do not disturb, do not allow, not allowed, dont email, dont contact, dont mail,
      dnc, stop, not subscribed, never subscribed, non subscribed, not a subscriber, not opted in, not consented, no consent, no permission, no email, no emails, no mail, no newsletter, no marketing, without consent, consent withdrawn, consent revoked, consent refused, consent denied,
      withdrawn consent, withdrew consent, revoked consent, withdrawn, withdrew, revoked, objected, objection, left list, left the list, removed from list, removed from the list, removed from mailing list,
      signed off, deregistered`,
    notSubscribed: `inactive, not active, out, unconfirmed, not confirmed, pending, awaiting confirmation, pending confirmation, soft bounce, soft bounced, undeliverable, invalid, blocked, removed, deleted, archived, suspended,
      declined, denied, refused, rejected, not given, not granted, not set, unknown, transactional, unengaged, expired, lapsed, ended, cancelled, canceled, terminated, left, gone, excluded, deactivated, not agreed, disagreed, not accepted, not verified`,
  },
  german: {
    yes: "ja, j, wahr, an, gerne",
    no: "nein, falsch, aus, nie, nicht erteilt, nicht erlaubt, nicht gewünscht, nicht erwünscht, unerwünscht",
    active:
      "aktiv, bestätigt, eingewilligt, zugestimmt, akzeptiert, erteilt, erlaubt, einverstanden, gewünscht, erwünscht",
    subscribed: "abonniert, abonnent, angemeldet, eingetragen, newsletter ja, nicht abgemeldet",
    gone: `abgemeldet, abmeldung, ausgetragen, abbestellt, abgemeldet vom newsletter, newsletter abbestellt, widerspruch, widersprochen, widerrufen, widerruf, einwilligung widerrufen, einwilligung zurückgezogen, zustimmung widerrufen,
      keine einwilligung, keine zustimmung, nicht eingewilligt, nicht zugestimmt, nicht mehr abonniert, nicht mehr angemeldet, werbesperre, kontaktsperre, nicht abonniert, nicht angemeldet, kein newsletter,
      keine werbung, keine e mails, keine emails, keine mails, nicht kontaktieren, nicht anschreiben, nicht mailen, sperrliste, auf sperrliste, unsubscribt, robinsonliste, hat sich abgemeldet`,
    notSubscribed:
      "inaktiv, nicht aktiv, unbestätigt, nicht bestätigt, ausstehend, gesperrt, gelöscht, gekündigt, abgelehnt, verweigert, unzustellbar, ungültig, nicht einverstanden, abgelaufen, beendet, ausgeschlossen, deaktiviert",
  },
  french: {
    yes: "oui, o, vrai, v",
    no: "non, faux, jamais, refus",
    active: "actif, active, confirmé, confirmée, accepté, acceptée, consenti, autorisé, d'accord",
    subscribed: "abonné, abonnée, inscrit, inscrite, opt in actif",
    gone: `désabonné, désabonnée, désabonnement, désinscrit, désinscrite, désinscription, non abonné, non abonnée, non inscrit, non inscrite, pas abonné, pas inscrit, plus abonné, plus abonnée, plus inscrit, n'est plus abonné, opposition,
      opposé, s'est désinscrit, s'est désabonné, liste noire, blacklisté, blacklistée, ne pas contacter, ne pas envoyer, ne plus contacter, plainte, plainte spam, rebond définitif, consentement retiré, consentement révoqué, retiré, révoqué, pas de consentement,
      sans consentement`,
    notSubscribed:
      "inactif, en attente, non confirmé, bloqué, supprimé, refusé, refusée, rejeté, invalide, résilié, expiré, annulé, exclu",
  },
  spanish: {
    yes: "sí, si, s, verdadero",
    no: "no, falso, nunca",
    active:
      "activo, activa, confirmado, confirmada, aceptado, aceptada, autorizado, autorizada, acepta, alta",
    subscribed:
      "suscrito, suscrita, suscripto, suscripta, suscriptor, suscriptora, dado de alta, dada de alta",
    gone: `baja, de baja, dado de baja, dada de baja, desuscrito, desuscrita, desuscripto, desuscripta, desinscrito, cancelada suscripción, suscripción cancelada, no suscrito, no suscrita, ya no suscrito, rebotado, rebote, lista negra,
      no contactar, no enviar, queja, revocado, revocada, retirado, retirada, consentimiento revocado, consentimiento retirado, sin consentimiento, se dio de baja`,
    notSubscribed:
      "inactivo, inactiva, pendiente, no confirmado, sin confirmar, bloqueado, eliminado, rechazado, rechazada, cancelado, cancelada, inválido, caducado, excluido",
  },
  italian: {
    yes: "sì, si, s, vero",
    no: "no, falso, mai",
    active:
      "attivo, attiva, confermato, confermata, accettato, accettata, autorizzato, acconsento, acconsente",
    subscribed: "iscritto, iscritta, abbonato, abbonata",
    gone: `disiscritto, disiscritta, disinscritto, disinscritta, cancellato dalla lista, cancellato dalla newsletter, non iscritto, non iscritta, non più iscritto, non più iscritta, iscrizione annullata, lista nera, non contattare, non inviare,
      rimbalzato, revocato, revocata, ritirato, consenso revocato, consenso ritirato, consenso negato, nessun consenso, senza consenso`,
    notSubscribed:
      "inattivo, inattiva, non attivo, in attesa, non confermato, bloccato, cancellato, cancellata, eliminato, rifiutato, scaduto, escluso",
  },
  portuguese: {
    yes: "sim, s, verdadeiro",
    no: "não, nao, falso, nunca",
    active: "ativo, ativa, activo, confirmado, confirmada, aceito, aceite, autorizado, permitido",
    subscribed: "inscrito, inscrita, assinante, cadastrado, cadastrada, optante, subscrito",
    gone: `descadastrado, descadastrada, desinscrito, desinscrita, desinscreveu se, cancelou a inscrição, cancelou inscrição, inscrição cancelada, não inscrito, não inscrita, não assinante, não subscrito, já não inscrito, optou por sair,
      lista negra, não contatar, não contactar, não enviar, revogado, retirado, consentimento revogado, consentimento retirado, sem consentimento`,
    notSubscribed:
      "inativo, inativa, pendente, não confirmado, bloqueado, removido, recusado, cancelado, expirado, excluído",
  },
  dutch: {
    yes: "ja, j, waar, aan",
    no: "nee, onwaar, uit, nooit",
    active: "actief, bevestigd, akkoord, toegestaan, toestemming",
    subscribed: "ingeschreven, geabonneerd, abonnee, aangemeld",
    gone: `afgemeld, uitgeschreven, niet ingeschreven, niet geabonneerd, niet aangemeld, niet meer ingeschreven, niet meer geabonneerd, geen nieuwsbrief, geen mail, geen toestemming, niet mailen, niet contacteren, zwarte lijst,
      ingetrokken, toestemming ingetrokken, bezwaar, bezwaar gemaakt`,
    notSubscribed:
      "inactief, niet actief, niet bevestigd, in afwachting, geblokkeerd, verwijderd, opgezegd, geweigerd, verlopen, uitgesloten",
  },
  swedish: {
    yes: "ja, j, sant, på",
    no: "nej, falskt, av, aldrig",
    active: "aktiv, bekräftad, godkänd, samtycker, samtycke",
    subscribed: "prenumererar, prenumerant, anmäld",
    gone: `avregistrerad, avprenumererad, avprenumererat, avanmäld, avslutat prenumeration, prenumererar inte, prenumererar ej, prenumererar inte längre, ej prenumerant, inte prenumerant, spärrad för utskick, återkallad, återkallat,
      samtycke återkallat, inget samtycke, ej samtycke, svartlistad`,
    notSubscribed: "inaktiv, ej aktiv, obekräftad, väntar, blockerad, borttagen, spärrad, nekad, avslutad",
  },
  danish: {
    yes: "ja, j, sand",
    no: "nej, falsk, aldrig",
    active: "aktiv, bekræftet, godkendt, samtykker",
    subscribed: "tilmeldt, abonnent, abonnerer",
    gone: "afmeldt, frameldt, ikke tilmeldt, ikke længere tilmeldt, ingen nyhedsbrev, intet nyhedsbrev, abonnerer ikke, samtykke trukket tilbage, trukket tilbage, tilbagekaldt, intet samtykke, sortlistet",
    notSubscribed: "inaktiv, ikke aktiv, afventer, blokeret, slettet, afvist, opsagt",
  },
  norwegian: {
    yes: "ja, j, sant",
    no: "nei, usant, aldri",
    active: "aktiv, bekreftet, godkjent, samtykker",
    subscribed: "påmeldt, abonnent, abonnerer",
    gone: "avmeldt, frameldt, ikke påmeldt, ikke lenger påmeldt, ingen nyhetsbrev, abonnerer ikke, samtykke trukket, trukket tilbake, tilbakekalt, ikke samtykke, svartelistet, reservert",
    notSubscribed: "inaktiv, ikke aktiv, venter, blokkert, slettet, avvist, oppsagt",
  },
  finnish: {
    yes: "kyllä, k, tosi",
    no: "ei, epätosi, ei koskaan, kielletty",
    active: "aktiivinen, vahvistettu, hyväksytty, suostunut, sallittu",
    subscribed: "tilaaja, tilannut, tilattu",
    gone: "peruuttanut tilauksen, perunut tilauksen, tilaus peruttu, tilaus peruutettu, poistunut listalta, ei tilaaja, ei enää tilaaja, ei tilannut, markkinointikielto, ei markkinointia, ei suostumusta, suostumus peruttu, suostumus peruutettu",
    notSubscribed:
      "ei aktiivinen, passiivinen, vahvistamaton, odottaa, estetty, poistettu, peruttu, peruutettu, hylätty",
  },
  polish: {
    yes: "tak, prawda",
    no: "nie, fałsz, nigdy",
    active: "aktywny, aktywna, potwierdzony, potwierdzona, zgoda, wyrażona, zgadzam się",
    subscribed: "zapisany, zapisana, subskrybent, subskrybuje, subskrybowany",
    gone: `wypisany, wypisana, wyrejestrowany, wyrejestrowana, rezygnacja, zrezygnował, zrezygnowała, nie subskrybuje, już nie subskrybuje, niezapisany, niezapisana, sprzeciw, czarna lista, anulowana subskrypcja, brak zgody, bez zgody,
      cofnięta, cofnięta zgoda, zgoda cofnięta, wycofana zgoda, zgoda wycofana`,
    notSubscribed:
      "nieaktywny, nieaktywna, niepotwierdzony, oczekujący, zablokowany, usunięty, odmowa, odrzucony",
  },
  czech: {
    yes: "ano, pravda",
    no: "ne, nepravda, nikdy, nesouhlasí, nesouhlas",
    active: "aktivní, potvrzený, souhlasí, souhlas",
    subscribed: "přihlášen, přihlášený, přihlášena, odebírá, odběratel",
    gone: "odhlášen, odhlášený, odhlášená, odhlášena, odhlášeno, neodebírá, již neodebírá, nepřihlášen, černá listina, souhlas odvolán, odvolal souhlas, odvoláno, bez souhlasu",
    notSubscribed: "neaktivní, nepotvrzený, čeká, zablokován, smazán, odmítnuto, zrušeno",
  },
  slovak: {
    yes: "áno, pravda",
    no: "nie, nepravda, nikdy, nesúhlasí, nesúhlas",
    active: "aktívny, potvrdený, súhlasí, súhlas",
    subscribed: "prihlásený, prihlásená, odoberá, odoberateľ",
    gone: "odhlásený, odhlásená, odhlásené, neodoberá, už neodoberá, neprihlásený, čierna listina, súhlas odvolaný, odvolal súhlas, bez súhlasu",
    notSubscribed: "neaktívny, nepotvrdený, čaká, zablokovaný, zmazaný, odmietnuté, zrušené",
  },
  hungarian: {
    yes: "igen, i, igaz",
    no: "nem, hamis, soha",
    active: "aktív, hozzájárult, megerősített",
    subscribed: "feliratkozott, feliratkozva",
    gone: "leiratkozott, leiratkozva, leiratkozás, nem feliratkozott, már nem feliratkozott, tiltólista, tiltólistán, visszavont, visszavonva, hozzájárulás visszavonva, nincs hozzájárulás",
    notSubscribed: "inaktív, megerősítetlen, törölt, letiltva, elutasított, függőben",
  },
  romanian: {
    yes: "da, adevărat",
    no: "nu, fals, niciodată",
    active: "activ, confirmat, acceptat",
    subscribed: "abonat, abonată, înscris",
    gone: "dezabonat, dezabonată, dezabonare, neabonat, nu este abonat, nu mai este abonat, consimțământ retras, retras, fără consimțământ, lista neagră",
    notSubscribed: "inactiv, neconfirmat, blocat, șters, refuzat, anulat, în așteptare",
  },
  bulgarian: {
    yes: "да, вярно",
    no: "не, невярно, никога",
    active: "активен, активна, потвърден, съгласен",
    subscribed: "абониран, абонирана, абонат",
    gone: "отписан, отписана, отписал се, не е абониран, неабониран, вече не е абониран, оттеглено, съгласието оттеглено, без съгласие, черен списък",
    notSubscribed: "неактивен, неактивна, непотвърден, изчаква, блокиран, изтрит, отказано",
  },
  croatian: {
    yes: "da, točno, istina",
    no: "ne, netočno, nikad",
    active: "aktivan, aktivna, potvrđen, pristao",
    subscribed: "pretplaćen, pretplaćena, prijavljen, prijavljena",
    gone: "odjavljen, odjavljena, odjava, nije pretplaćen, više nije pretplaćen, nepretplaćen, privola povučena, povučeno, bez privole, crna lista",
    notSubscribed: "neaktivan, neaktivna, nepotvrđen, na čekanju, blokiran, obrisan, odbijeno",
  },
  slovenian: {
    yes: "da, drži",
    no: "ne, nikoli",
    active: "aktiven, aktivna, potrjen",
    subscribed: "naročen, naročena, prijavljen, prijavljena",
    gone: "odjavljen, odjavljena, odjava, ni naročen, ni več naročen, soglasje preklicano, preklicano, brez soglasja, črna lista",
    notSubscribed: "neaktiven, neaktivna, nepotrjen, čaka, blokiran, izbrisan, zavrnjeno",
  },
  greek: {
    yes: "ναι, αληθές",
    no: "όχι, ψευδές, ποτέ",
    active: "ενεργός, ενεργή, αποδοχή",
    subscribed: "εγγεγραμμένος, εγγεγραμμένη, συνδρομητής",
    gone: "διαγραμμένος από τη λίστα, απεγγεγραμμένος, απεγγεγραμμένη, απεγγραφή, μη εγγεγραμμένος, δεν είναι πλέον εγγεγραμμένος, ανακλήθηκε, χωρίς συγκατάθεση, μαύρη λίστα",
    notSubscribed: "ανενεργός, εκκρεμεί, διαγραμμένος, αποκλεισμένος, απορρίφθηκε",
  },
  turkish: {
    yes: "evet, doğru, var",
    no: "hayır, yanlış, asla, yok, onaysız",
    active: "aktif, onaylı, onaylandı, izinli",
    subscribed: "abone, abone oldu",
    gone: "abonelikten çıktı, abonelikten ayrıldı, abonelikten çıkmış, abone değil, artık abone değil, abonelik iptal, abonelik iptal edildi, izinsiz, izin yok, izin geri çekildi, geri çekildi, iptal etti, kara liste",
    notSubscribed: "pasif, inaktif, beklemede, engellendi, silindi, reddetti, iptal, iptal edildi",
  },
  russian: {
    yes: "да, истина",
    no: "нет, ложь, никогда, не согласен, не согласна",
    active: "активен, активна, активный, подтверждён, подтверждено, согласен, согласна, согласие",
    subscribed: "подписан, подписана, подписчик, подписался",
    gone: `отписан, отписана, отписался, отписалась, отписано, отписка, не подписан, не подписана, больше не подписан, чёрный список, в чёрном списке, жалоба на спам, не отправлять, не беспокоить, отозвано, согласие отозвано, отозвал согласие,
      нет согласия, без согласия, отказ от рассылки`,
    notSubscribed:
      "неактивен, неактивна, неактивный, не подтверждён, ожидает, заблокирован, удалён, отказ, отклонено",
  },
  ukrainian: {
    yes: "так, істина",
    no: "ні, ніколи, не згоден, не згодна",
    active: "активний, активна, підтверджено, згоден, згодна, згода",
    subscribed: "підписаний, підписана, підписник, підписався",
    gone: "відписаний, відписана, відписався, відписалась, відписка, не підписаний, не підписана, більше не підписаний, відкликано, згоду відкликано, без згоди, немає згоди, чорний список, не надсилати",
    notSubscribed: "неактивний, очікує, заблоковано, видалено, відмова, відхилено",
  },
  lithuanian: {
    yes: "taip",
    no: "ne, niekada",
    active: "aktyvus, aktyvi, patvirtinta, sutinka, sutiko",
    subscribed: "prenumeruoja, prenumeratorius, užsiprenumeravo",
    gone: "atsisakė, atsisakė prenumeratos, neprenumeruoja, nebeprenumeruoja, sutikimas atšauktas, atšaukta, be sutikimo, nesutinka, juodasis sąrašas",
    notSubscribed: "neaktyvus, neaktyvi, nepatvirtinta, laukiama, užblokuotas, ištrintas, atmesta",
  },
  latvian: {
    yes: "jā",
    no: "nē, nekad",
    active: "aktīvs, aktīva, apstiprināts, piekrīt",
    subscribed: "abonē, abonents, pierakstījies, pierakstījusies",
    gone: "atteicies, atteikusies, atrakstījies, atrakstījusies, neabonē, vairs neabonē, piekrišana atsaukta, atsaukts, bez piekrišanas, nepiekrīt, melnais saraksts",
    notSubscribed: "neaktīvs, neaktīva, neapstiprināts, gaida, bloķēts, dzēsts, noraidīts",
  },
  estonian: {
    yes: "jah",
    no: "ei, mitte kunagi",
    active: "aktiivne, kinnitatud, nõus",
    subscribed: "tellija, tellib, liitunud",
    gone: "loobunud, loobus, tellimus tühistatud, ei telli, ei telli enam, nõusolek tühistatud, nõusolek tagasi võetud, tagasi võetud, nõusolekuta, ei nõustu, must nimekiri",
    notSubscribed: "mitteaktiivne, kinnitamata, ootel, blokeeritud, kustutatud, keeldunud",
  },
  japanese: {
    yes: "はい, 有, 有り, あり, 可, 要, する, 真, オン",
    no: "いいえ, 否, 無, 無し, なし, 不可, 不要, しない, 偽, オフ",
    active:
      "有効, 希望, 希望する, 希望します, 同意, 同意する, 同意します, 同意済み, 同意済, 承諾, 承諾する, 許可, 許諾, 了承, 登録, 登録済み, 登録済, 受け取る, 受信する, 配信可, 受信可",
    subscribed: "購読, 購読中, 購読者, 配信中, 配信希望, 受信希望, オプトイン",
    gone: `配信停止, 配信停止中, 配信停止済み, 配信停止済, 送信停止, 配信解除, 配信解除済み, 購読解除, 購読停止, 購読中止, 登録解除, 登録解除済み, 解除済み, 解除済, 退会, 退会済み, 退会済, 配信拒否, 受信拒否, 配信不可, 配信不要, 受信不可, 配信ng, 送信ng,
      オプトアウト, 未購読, 不達, 不着, バウンス, 苦情, 迷惑メール報告, ブラックリスト, 同意撤回, 撤回, 撤回済み, 同意しない, 同意しません, 不同意, 希望しない, 希望しません, 受け取らない, 受信しない, 配信しない`,
    notSubscribed:
      "無効, 停止, 停止中, 停止済み, 解除, 拒否, 休止, 休止中, 未登録, 未同意, 未承諾, 未確認, 仮登録, 保留, 削除, 削除済み, エラー, 除外",
  },
  chinese: {
    yes: "是, 有, 真, 启用, 啟用",
    no: "否, 不, 无, 無, 假",
    active: "有效, 同意, 已同意, 确认, 已确认, 確認, 已確認, 接收, 接受, 允许, 允許",
    subscribed: "订阅, 已订阅, 订阅中, 訂閱, 已訂閱, 訂閱中",
    gone: `退订, 已退订, 退訂, 已退訂, 取消订阅, 已取消订阅, 取消訂閱, 已取消訂閱, 未订阅, 未訂閱, 不再订阅, 不再訂閱, 拒收, 黑名单, 黑名單, 退信, 硬退信, 投诉, 投訴, 垃圾邮件投诉, 请勿发送, 請勿發送, 已撤回, 撤回同意, 同意已撤回, 不同意, 不接收, 不接受, 不允许,
      不允許, 拒绝接收, 拒絕接收`,
    notSubscribed:
      "无效, 無效, 未激活, 待确认, 待確認, 未确认, 未確認, 已删除, 已刪除, 禁用, 停用, 已停用, 拒绝, 拒絕, 未同意, 撤回",
  },
  korean: {
    yes: "예, 네, 참, 있음",
    no: "아니요, 아니오, 거짓, 없음",
    active: "활성, 동의, 동의함, 수신동의, 수신 동의, 수신, 확인됨, 허용",
    subscribed: "구독, 구독중, 구독 중, 구독자",
    gone: `수신거부, 수신 거부, 수신거부됨, 구독취소, 구독 취소, 구독취소됨, 구독해지, 구독 해지, 구독안함, 구독 안함, 미구독, 탈퇴, 탈퇴함, 반송, 반송됨, 스팸신고, 스팸 신고, 블랙리스트, 동의철회, 동의 철회, 철회, 철회됨, 동의안함, 동의 안함,
      동의하지 않음, 비동의, 미동의`,
    notSubscribed: "비활성, 거부, 해지, 대기, 대기중, 미확인, 차단, 삭제, 삭제됨, 중지, 제외",
  },
  arabic: {
    yes: "نعم, صحيح",
    no: "لا, خطأ, أبدا",
    active: "نشط, مؤكد, موافق",
    subscribed: "مشترك",
    gone: "ألغى الاشتراك, تم إلغاء الاشتراك, إلغاء الاشتراك, غير مشترك, لم يعد مشتركا, غير موافق, سحب الموافقة, القائمة السوداء",
    notSubscribed: "غير نشط, غير مؤكد, قيد الانتظار, محظور, محذوف, مرفوض",
  },
  hebrew: {
    yes: "כן, נכון",
    no: "לא, שגוי",
    active: "פעיל, מאושר, מאשר, מסכים",
    subscribed: "רשום, מנוי",
    gone: "הוסר, הוסר מהרשימה, הסרה, ביטל מנוי, לא רשום, לא מנוי, כבר לא מנוי, ללא הסכמה, אין הסכמה, לא לשלוח, רשימה שחורה",
    notSubscribed: "לא פעיל, לא מאושר, ממתין, חסום, נמחק, נדחה",
  },
  vietnamese: {
    yes: "có, đúng, vâng",
    no: "không, sai, không bao giờ",
    active: "hoạt động, đã xác nhận, đồng ý",
    subscribed: "đã đăng ký, đang đăng ký",
    gone: "hủy đăng ký, đã hủy đăng ký, huỷ đăng ký, đã huỷ đăng ký, không đăng ký, không còn đăng ký, chưa đăng ký, không đồng ý, rút lại đồng ý, từ chối nhận tin, danh sách đen",
    notSubscribed: "không hoạt động, chưa xác nhận, đang chờ, bị chặn, đã xóa, từ chối",
  },
  indonesian: {
    yes: "ya, benar",
    no: "tidak, salah, tidak pernah",
    active: "aktif, dikonfirmasi, setuju",
    subscribed: "berlangganan, pelanggan",
    gone: "berhenti berlangganan, tidak berlangganan, tidak lagi berlangganan, batal berlangganan, tidak setuju, persetujuan ditarik, ditarik, tanpa persetujuan, daftar hitam",
    notSubscribed: "tidak aktif, belum dikonfirmasi, menunggu, diblokir, dihapus, ditolak",
  },
};

/** Signs of any language. They are compared as they are written. */
export const signs = {
  yes: "1, 1.0, x, ✓, ✔, √, ☑, ✅, ○, ◯, 〇, ●, ◎, +",
  no: "0, 0.0, ×, ✕, ❌, ☐, ☓",
  /** Written for "nothing here". */
  empty: "-, –, —, ―, n/a, na, null, none, nil, \\n, #n/a, nan, (empty), (blank), (leer), (vide), (vacío), .",
};

/** Words for gone that are also names of places and people, or words of other trades. */
export const ambiguousGone =
  "baja, spam, bounce, abuse, stop, suppression, complaint, opposition, queja, rebote, plainte, reservert, 苦情";

/**
 * Words that may stand around a word for gone in a cell and do not change it: `User unsubscribed via link on
 * 3 May`.
 */
export const aroundGone =
  "user, contact, customer, member, person, subscriber, he, she, they, has, have, was, is, been, on, at, via, by, link, email, e mail, mail, newsletter, list, the, from, himself, herself, themselves, in, date, am, per, le, el, il, op, den, dnia, dne, um, hat, sich, kunde, kontakt, kontaktperson, selbst";
