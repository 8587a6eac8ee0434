/**
 * The words by which files speak of consent, one line for each language, for a native reader to check. They are compared
 * without regard to case, accents on Latin letters, hyphens, underscores, dots and quotes.
 */

/** What a cell says. `yes` and `no` answer what the column's name asks; all others speak for themselves. */
export interface ConsentWords {
  yes: string;
  no: string;
  /** The person is mailed. */
  subscribed: string;
  /** Unmistakably gone: such a word makes a status column a consent column. */
  gone: string;
  /** Not mailed, in a column that speaks of consent; in any other it may mean something else. */
  notSubscribed: string;
}

const none: ConsentWords = { yes: "", no: "", subscribed: "", gone: "", notSubscribed: "" };

export const cellWords: Record<string, ConsentWords> = {
  signs: {
    ...none,
    yes: "1, 1.0, x, ✓, ✔, √, ☑, ✅, ○, ◯, 〇, ●, ◎, +",
    no: "0, 0.0, ×, ✕, ❌, ☐, ☓",
  },
  english: {
    yes: "yes, y, true, t, on, ok, okay, in, active, enabled, confirmed, double, single, express, explicit, implied, implicit, granted, given, consented, accepted, accept, agreed, approved, checked, valid, verified, deliverable, direct",
    no: "no, n, false, f, off, never, unchecked, disabled",
    subscribed:
      "subscribed, subscriber, subscribe, opted in, opt in, optin, double opt in, single opt in, confirmed opt in, allow, allowed, resubscribed, not unsubscribed, not opted out, not bounced, not suppressed",
    gone: "unsubscribed, unsubscribe, unsub, opted out, opt out, optout, optedout, global unsubscribe, unsubscribed from all, cleaned, bounced, bounce, hard bounce, hard bounced, hardbounce, hardbounced, complained, complaint, complaint fbl, spam, spam complaint, spam report, marked as spam, reported spam, reported as spam, abuse, suppressed, suppression, blacklisted, blacklist, blocklisted, blocklist, do not email, do not e mail, do not mail, do not contact, do not send, do not allow, not allowed, dont email, not subscribed, never subscribed, non subscribed, nonsubscribed, not opted in, no consent, consent withdrawn, consent revoked, left list, removed from list",
    notSubscribed:
      "inactive, out, unconfirmed, not confirmed, pending, awaiting confirmation, pending confirmation, soft bounce, soft bounced, undeliverable, invalid, blocked, removed, deleted, archived, suspended, declined, denied, refused, rejected, revoked, withdrawn, not given, not set, unknown, transactional, unengaged, expired, cancelled, canceled, left",
  },
  german: {
    yes: "ja, j, wahr, an, aktiv, bestätigt, eingewilligt, zugestimmt, akzeptiert, erteilt, erlaubt, einverstanden, gewünscht",
    no: "nein, falsch, aus, nie, nicht erteilt, nicht erlaubt, nicht gewünscht",
    subscribed: "abonniert, abonnent, angemeldet, eingetragen, newsletter ja, nicht abgemeldet",
    gone: "abgemeldet, ausgetragen, abbestellt, abgemeldet vom newsletter, newsletter abbestellt, widerspruch, widersprochen, werbesperre, nicht abonniert, nicht angemeldet, kein newsletter, keine werbung, keine e mails, nicht kontaktieren, sperrliste, unsubscribt",
    notSubscribed:
      "inaktiv, unbestätigt, nicht bestätigt, ausstehend, gesperrt, gelöscht, gekündigt, widerrufen, abgelehnt, unzustellbar, ungültig",
  },
  french: {
    yes: "oui, o, vrai, v, actif, active, confirmé, confirmée, accepté, acceptée, consenti, autorisé, d'accord",
    no: "non, faux, jamais, refus",
    subscribed: "abonné, abonnée, inscrit, inscrite, opt in actif",
    gone: "désabonné, désabonnée, désabonnement, désinscrit, désinscrite, désinscription, non abonné, non abonnée, non inscrit, non inscrite, opposition, liste noire, blacklisté, blacklistée, ne pas contacter, plainte, plainte spam, rebond définitif",
    notSubscribed:
      "inactif, inactive, en attente, non confirmé, bloqué, supprimé, refusé, refusée, rejeté, invalide",
  },
  spanish: {
    yes: "sí, si, s, verdadero, activo, activa, confirmado, confirmada, aceptado, aceptada, autorizado, autorizada, acepta, alta",
    no: "no, falso, nunca",
    subscribed: "suscrito, suscrita, suscriptor, dado de alta, dada de alta",
    gone: "baja, de baja, dado de baja, dada de baja, desuscrito, desuscrita, desinscrito, cancelada suscripción, suscripción cancelada, no suscrito, no suscrita, rebotado, rebote, lista negra, no contactar, no enviar, queja",
    notSubscribed:
      "inactivo, inactiva, pendiente, no confirmado, sin confirmar, bloqueado, eliminado, rechazado, cancelado, cancelada, inválido",
  },
  italian: {
    yes: "sì, si, s, vero, attivo, attiva, confermato, confermata, accettato, accettata, autorizzato, acconsento, acconsente",
    no: "no, falso, mai",
    subscribed: "iscritto, iscritta, abbonato, abbonata",
    gone: "disiscritto, disiscritta, disinscritto, disinscritta, cancellato dalla lista, non iscritto, non iscritta, iscrizione annullata, lista nera, non contattare, rimbalzato",
    notSubscribed:
      "inattivo, inattiva, non attivo, in attesa, non confermato, bloccato, cancellato, cancellata, eliminato, rifiutato, revocato",
  },
  portuguese: {
    yes: "sim, s, verdadeiro, ativo, ativa, activo, confirmado, confirmada, aceito, aceite, autorizado, permitido",
    no: "não, nao, falso, nunca",
    subscribed: "inscrito, inscrita, assinante, cadastrado, cadastrada, optante, subscrito",
    gone: "descadastrado, descadastrada, desinscrito, desinscrita, desinscreveu se, cancelou a inscrição, cancelou inscrição, inscrição cancelada, não inscrito, não assinante, não subscrito, optou por sair, lista negra, não contatar, não enviar",
    notSubscribed: "inativo, inativa, pendente, não confirmado, bloqueado, removido, recusado, cancelado",
  },
  dutch: {
    yes: "ja, j, waar, aan, actief, bevestigd, akkoord, toegestaan, toestemming",
    no: "nee, onwaar, uit, nooit, geen toestemming",
    subscribed: "ingeschreven, geabonneerd, abonnee, aangemeld",
    gone: "afgemeld, uitgeschreven, niet ingeschreven, niet geabonneerd, niet aangemeld, geen nieuwsbrief, geen mail, niet mailen, zwarte lijst",
    notSubscribed: "inactief, niet actief, niet bevestigd, in afwachting, geblokkeerd, verwijderd, opgezegd",
  },
  swedish: {
    yes: "ja, j, sant, på, aktiv, bekräftad, godkänd, samtycker, samtycke",
    no: "nej, falskt, av, aldrig",
    subscribed: "prenumererar, prenumerant, anmäld",
    gone: "avregistrerad, avprenumererad, avanmäld, avslutat prenumeration, prenumererar inte, ej prenumerant, spärrad för utskick",
    notSubscribed: "inaktiv, ej aktiv, obekräftad, väntar, blockerad, borttagen, spärrad",
  },
  danishAndNorwegian: {
    yes: "ja, j, sand, sant, aktiv, bekræftet, bekreftet, godkendt, godkjent, samtykker",
    no: "nej, nei, falsk, usant, aldrig, aldri",
    subscribed: "tilmeldt, påmeldt, abonnent, abonnerer",
    gone: "afmeldt, avmeldt, frameldt, ikke tilmeldt, ikke påmeldt, ingen nyhedsbrev, ingen nyhetsbrev",
    notSubscribed: "inaktiv, ikke aktiv, afventer, venter, blokeret, blokkert, slettet",
  },
  finnish: {
    yes: "kyllä, k, tosi, aktiivinen, vahvistettu, hyväksytty, suostunut, sallittu",
    no: "ei, epätosi, ei koskaan, kielletty",
    subscribed: "tilaaja, tilannut, tilattu",
    gone: "peruuttanut tilauksen, tilaus peruttu, poistunut listalta, ei tilaaja, ei tilannut, markkinointikielto, ei markkinointia",
    notSubscribed: "ei aktiivinen, passiivinen, vahvistamaton, odottaa, estetty, poistettu, peruttu",
  },
  polish: {
    yes: "tak, prawda, aktywny, aktywna, potwierdzony, potwierdzona, zgoda, wyrażona, zgadzam się",
    no: "nie, fałsz, nigdy, brak zgody",
    subscribed: "zapisany, zapisana, subskrybent, subskrybuje, subskrybowany",
    gone: "wypisany, wypisana, wyrejestrowany, wyrejestrowana, rezygnacja, zrezygnował, zrezygnowała, nie subskrybuje, niezapisany, niezapisana, sprzeciw, czarna lista, anulowana subskrypcja",
    notSubscribed: "nieaktywny, nieaktywna, niepotwierdzony, oczekujący, zablokowany, usunięty, odmowa",
  },
  czech: {
    yes: "ano, pravda, aktivní, potvrzený, souhlasí, souhlas",
    no: "ne, nepravda, nikdy, nesouhlasí, nesouhlas",
    subscribed: "přihlášen, přihlášený, přihlášena, odebírá, odběratel",
    gone: "odhlášen, odhlášený, odhlášená, odhlášena, odhlášeno, neodebírá, nepřihlášen, černá listina",
    notSubscribed: "neaktivní, nepotvrzený, čeká, zablokován, smazán",
  },
  hungarian: {
    ...none,
    yes: "igen, i, igaz, aktív, hozzájárult",
    no: "nem, hamis, soha",
    subscribed: "feliratkozott, feliratkozva",
    gone: "leiratkozott, leiratkozva, nem feliratkozott, tiltólista",
    notSubscribed: "inaktív, megerősítetlen, törölt",
  },
  romanian: {
    ...none,
    yes: "da, adevărat, activ, confirmat, acceptat",
    no: "nu, fals, niciodată",
    subscribed: "abonat, abonată, înscris",
    gone: "dezabonat, dezabonată, neabonat, nu este abonat",
    notSubscribed: "inactiv, neconfirmat, blocat, șters",
  },
  turkish: {
    ...none,
    yes: "evet, doğru, aktif, onaylı, onaylandı, izinli",
    no: "hayır, yanlış, asla, onaysız",
    subscribed: "abone, abone oldu",
    gone: "abonelikten çıktı, abonelikten ayrıldı, abone değil, abonelik iptal, izinsiz, kara liste",
    notSubscribed: "pasif, inaktif, beklemede, engellendi, silindi, reddetti",
  },
  russian: {
    yes: "да, истина, активен, активна, активный, подтверждён, подтверждено, согласен, согласна, согласие",
    no: "нет, ложь, никогда, не согласен",
    subscribed: "подписан, подписана, подписчик, подписался",
    gone: "отписан, отписана, отписался, отписалась, отписано, отписка, не подписан, не подписана, чёрный список, жалоба на спам, не отправлять",
    notSubscribed: "неактивен, неактивна, неактивный, не подтверждён, ожидает, заблокирован, удалён, отказ",
  },
  ukrainian: {
    ...none,
    yes: "так, активний, підтверджено, згоден, згодна",
    no: "ні, ніколи",
    subscribed: "підписаний, підписана, підписник",
    gone: "відписаний, відписана, відписався, відписалась, не підписаний",
    notSubscribed: "неактивний, очікує, заблоковано",
  },
  greek: {
    ...none,
    yes: "ναι, ενεργός, ενεργή, αποδοχή",
    no: "όχι, ποτέ",
    subscribed: "εγγεγραμμένος, εγγεγραμμένη, συνδρομητής",
    gone: "διαγραμμένος από τη λίστα, απεγγεγραμμένος, απεγγραφή, μη εγγεγραμμένος",
    notSubscribed: "ανενεργός, εκκρεμεί, διαγραμμένος",
  },
  japanese: {
    yes: "はい, 有, 有り, あり, 可, 要, 有効, する, 希望, 希望する, 希望します, 同意, 同意する, 同意します, 同意済み, 同意済, 承諾, 承諾する, 許可, 許諾, 了承, 登録, 登録済み, 登録済, オン, 受け取る, 受信する, 配信可, 受信可, 真",
    no: "いいえ, 否, 無, 無し, なし, 不可, 不要, しない, 希望しない, 希望しません, 同意しない, 同意しません, 不同意, オフ, 受け取らない, 受信しない, 偽",
    subscribed: "購読, 購読中, 購読者, 配信中, 配信希望, 受信希望, オプトイン",
    gone: "配信停止, 配信停止中, 配信停止済み, 送信停止, 配信解除, 配信解除済み, 購読解除, 購読停止, 登録解除, 登録解除済み, 解除済み, 退会, 退会済み, 退会済, 配信拒否, 受信拒否, 配信不可, 配信不要, 受信不可, 配信ng, 送信ng, オプトアウト, 未購読, 不達, 不着, バウンス, 苦情, 迷惑メール報告, ブラックリスト",
    notSubscribed:
      "無効, 停止, 停止中, 解除, 拒否, 休止, 休止中, 未登録, 未同意, 未承諾, 未確認, 仮登録, 保留, 削除, 削除済み, エラー",
  },
  chinese: {
    yes: "是, 有, 真, 有效, 同意, 已同意, 确认, 已确认, 確認, 已確認, 接收, 接受, 允许, 允許, 启用, 啟用",
    no: "否, 不, 无, 無, 假, 不同意, 不接收, 不接受, 不允许, 不允許, 拒绝, 拒絕",
    subscribed: "订阅, 已订阅, 订阅中, 訂閱, 已訂閱, 訂閱中",
    gone: "退订, 已退订, 退訂, 已退訂, 取消订阅, 已取消订阅, 取消訂閱, 已取消訂閱, 未订阅, 未訂閱, 拒收, 黑名单, 黑名單, 退信, 硬退信, 投诉, 投訴, 垃圾邮件投诉, 请勿发送, 請勿發送",
    notSubscribed: "无效, 無效, 未激活, 待确认, 待確認, 未确认, 未確認, 已删除, 已刪除, 禁用, 停用, 已停用",
  },
  korean: {
    yes: "예, 네, 참, 있음, 활성, 동의, 동의함, 수신동의, 수신 동의, 수신, 확인됨, 허용",
    no: "아니요, 아니오, 거짓, 없음, 비동의, 미동의, 동의안함, 동의하지 않음",
    subscribed: "구독, 구독중, 구독 중, 구독자",
    gone: "수신거부, 수신 거부, 수신거부됨, 구독취소, 구독 취소, 구독취소됨, 구독해지, 구독 해지, 구독안함, 미구독, 탈퇴, 반송, 반송됨, 스팸신고, 스팸 신고, 블랙리스트",
    notSubscribed: "비활성, 거부, 해지, 대기, 대기중, 미확인, 차단, 삭제, 삭제됨",
  },
};

/** Written for "nothing here". */
export const emptyWords =
  "-, –, —, ―, n/a, na, null, none, nil, \\n, #n/a, nan, (empty), (blank), (leer), (vide), (vacío), ., ?";

/**
 * What columns are called. A plain entry is found as whole words in the name (camel case counts as words); `*` stands for any
 * letters within a word. Entries in scripts without blanks are found anywhere in the name.
 */
export const columnNames = {
  /** A yes means subscribed. */
  optIn: [
    "opt in, opts in, opted in, *optin, *optedin, *subscribed, doi, double opt in, double optin, subscribed, is subscriber, consent, consented, consents, accepts marketing, accepts email*, accept marketing, accept email*, marketing permission, email permission, newsletter permission, mailing permission, permission to email, permission to contact, permission to mail, ok to email, ok to mail, ok to contact, okay to email, email ok, email okay, can email, can be emailed, may email, may contact, may be contacted, allow email*, allow marketing, allows email*, email allowed, emails allowed, agreed to marketing, agrees to marketing, marketing agreed, marketing accepted, marketing allowed, marketing opt, wants newsletter, wants email*, wants mail, receive newsletter*, receives newsletter*, receive email*, receives email*, receive marketing, subscribed to newsletter, newsletter consent",
    "*einwilligung*, *zustimmung*, *werbeerlaubnis*, *einverständnis*, einverstanden, newsletter erlaubt, email erlaubt, mail erlaubt, e mail erlaubt, newsletter erwünscht, *newsletteranmeldung*, *newsletterabo*, abonniert, newsletter angemeldet",
    "consentement, consentements, *abonné, *abonnée, inscrit, inscrite, accepte newsletter, accepte les emails, accepte emails, accepte email*, accepte marketing, accord marketing, accord email*",
    "consentimiento, suscrito, suscrita, acepta publicidad, acepta marketing, acepta email*, acepta correo*, acepta comunicaciones, acepta newsletter, autoriza email*",
    "consenso, iscritto, iscritta, accetta marketing, accetta newsletter, accetta email*, autorizza email*",
    "consentimento, inscrito, inscrita, assinante, aceita email*, aceita marketing, aceita newsletter, aceita receber, autoriza email*, permissao de email*, deseja receber",
    "toestemming*, *toestemming, ingeschreven, geabonneerd, aangemeld",
    "samtycke*, samtykke*, prenumererar, prenumerant, tilmeldt, påmeldt",
    "*suostumus*, *markkinointilupa*, sähköpostilupa",
    "zgoda, zgody, *zgoda, zapisany, zapisana, subskrybent",
    "souhlas*, přihlášen*, hozzájárul*, feliratkoz*, consimțământ*, abonat, abonată, συγκατάθεση, συναίνεση",
    "согласие, согласен, подписан, подписана, згода, підписаний",
    "配信希望, 受信希望, 購読希望, 案内希望, dm希望, メール希望, 同意, 承諾, 許諾, オプトイン, 受信許可, 配信許可, 配信可, 受信可",
    "接收邮件, 接收郵件, 邮件订阅, 郵件訂閱, 已订阅, 已訂閱, 是否订阅, 是否訂閱, 许可, 許可",
    "수신동의, 수신 동의, 동의, 구독여부, 구독 여부, 수신여부, 수신 여부",
  ],
  /** A yes means gone. */
  optOut: [
    "unsubscribed, unsubscribe, unsubscribes, unsubscription, unsub, unsubs, *unsubscribed*, opt out, opts out, opted out, *optout, *optedout, opt outs, dnc, email disabled, emails disabled, email suspended, marketing suspended, invalid email, bad email, marked email as spam, email marked as spam, do not email*, do not e mail, do not mail, do not contact, do not send, do not market, do not disturb, do not allow, do not bulk email*, do not call, do not phone, do not text, do not fax, do not sms, don t email, dont email, don t contact, dont contact, donotemail, donotbulkemail, donotcontact, donotmail, no email*, no mail, no mailing*, no newsletter*, no marketing, not subscribed, not opted in, never email, *blacklist*, *blocklist*, black listed, block listed, suppressed, suppress, is suppressed, bounced, hard bounce*, hardbounce*, complained, marked as spam, marked spam, spam report*, reported spam, reported as spam, spam complaint*, email invalid, consent withdrawn, consent revoked, consent withdrawal, withdrawal of consent, withdrawn consent, revoked consent, withdrew consent, left list, cleaned",
    "einwilligung widerrufen, zustimmung widerrufen, widerruf der einwilligung, *abgemeldet*, *abmeldung*, *abmeldedatum*, *abbestell*, *austragung*, *ausgetragen*, *werbesperre*, *mailsperre*, *newslettersperre*, mail sperre, newsletter sperre, *werbewiderspruch*, *widerspruch*, *widerrufen*, keine werbung, kein newsletter, keine e mail*, keine email*, keine mail*, nicht kontaktieren, *sperrliste*, *robinson*",
    "*désabonn*, *désinscri*, ne pas contacter, ne pas envoyer, ne pas emailer, *opposition*, consentement retiré, retrait du consentement, liste noire, refus email*, refus newsletter, refuse email*, refuse newsletter, stop email*, *blacklisté*",
    "baja, dado de baja, dada de baja, fecha de baja, *desuscri*, *desinscri*, no enviar, no contactar, no email*, lista negra, rechaza email*",
    "*disiscri*, *disinscri*, non contattare, non inviare, lista nera, rifiuta email*",
    "*descadastr*, *desinscri*, não enviar, não contatar, não contactar, recusa email*",
    "*afgemeld*, *afmeld*, *uitgeschreven*, *uitschrijf*, geen nieuwsbrief, geen mail*, geen e mail*, geen email*, niet mailen, niet contacteren, zwarte lijst",
    "*avregistrer*, *avprenumer*, *avanmäl*, *afmeldt*, *avmeldt*, *frameldt*, inga utskick, ingen e post, ej utskick, ikke kontakt*",
    "*markkinointikielto*, *suoramarkkinointikielto*, ei markkinointia, tilaus peruttu, peruuttanut",
    "*wypisan*, *wyrejestrowan*, *rezygnacj*, sprzeciw, brak zgody, nie wysyłać",
    "*odhlášen*, nesouhlas*, *leiratkoz*, *dezabon*, abonelikten*, απεγγραφή",
    "*отписан*, *отписк*, *отписал*, не отправлять, чёрный список, *відписан*",
    "配信停止, 送信停止, 配信解除, 購読解除, 登録解除, 退会, 配信拒否, 受信拒否, 配信不可, 受信不可, 配信不要, 送信不可, メール不要, 案内不要, dm不要, dm不可, dm拒否, 希望しない, 不同意, オプトアウト, 停止希望, 不達, 配信ng, 送信ng, ブラックリスト",
    "退订, 退訂, 取消订阅, 取消訂閱, 拒收, 不接收, 黑名单, 黑名單, 退信, 请勿, 請勿",
    "수신거부, 수신 거부, 구독취소, 구독 취소, 구독해지, 구독 해지, 탈퇴, 미동의",
  ],
  /** Opt-in, if every cell that is not blank is an answer: such a column may as well hold something else. */
  perhapsOptIn: [
    "newsletter*, news letter*, mailing, mailings, mailing list, mailinglist, email marketing, e mail marketing, marketing email*, marketing mail*, marketing, subscription, subscriber, subscribe, subscribes, permission, permissions, allowed, gdpr, contactable, emailable, mailable, email updates, promotional email*, promotions, send email*, sends email*",
    "dsgvo, werbung, *werbung, werbung erlaubt, *newsletter, infomail*, rundmail*, rgpd, abonnement, lettre d information, infolettre, boletín, boletin, publicidad, novidades, suscripción, iscrizione, lgpd, inscrição, assinatura, avg, nieuwsbrief*, nyhetsbrev*, nyhedsbrev*, uutiskirje*, lupa, subskrypcja, newsletteru, odběr, hírlevél*, izin, onay, ileti izni, подписка, рассылка, розсилка",
    "メルマガ, メールマガジン, メール配信, ニュースレター, 購読, 配信可否, 受信可否, 订阅, 訂閱, 邮件通知, 구독, 뉴스레터, 메일수신, 메일 수신",
  ],
  /** Opt-out, if every cell that is not blank is an answer, a number or a date. */
  perhapsOptOut: [
    "disabled, deactivated, deleted, bounce, bounces, complaint, complaints, spam, suppression, suppressions, blocked, excluded, exclude, stop, left, gone, removed, sperre, gesperrt, bloqué, exclu, bloqueado, bloccato, geblokkeerd, spärrad, kielto, zablokowany, 停止, 拒否, 解除, 投诉, 投訴, 차단",
  ],
  /** Consent as soon as one cell is unmistakably gone. */
  status: [
    "status, state, subscription, abonnement, statut, état, estado, situación, situação, stato, zustand, stav, stan, tila, tilanne, durum, stare, állapot, κατάσταση, статус, состояние, стан, *status, *statut, preference, preferences",
    "状態, 状況, ステータス, 区分, 状态, 狀態, 상태",
  ],
  /** Another way to reach a person. */
  otherChannels: [
    "sms*, mms, text message*, texting, text, texts, phone, phones, telephone, tel, call, calls, calling, mobile, cell, whatsapp*, wechat, line, viber, telegram, messenger, push, web push, fax, post, postal, letter, letters, direct mail, voice, robocall*, telefon*, *telefon, telefono, teléfono, téléphone, telefone, telefoon, puhelin, anruf*, brief, briefpost, postwerbung, courrier postal, correo postal, телефон, смс, звонки",
    "電話, 携帯, ショートメール, 郵送, はがき, ファックス, 短信, 电话, 電話, 微信, 문자, 전화, 카카오, 푸시",
  ],
  /** With one of these, a name that speaks of another channel speaks of e-mail too. */
  email: [
    "email*, e mail*, mail, mails, newsletter*, news letter*, courriel*, correo electrónico, posta elettronica, epost, e post, sähköposti*, почт*, эл почта, メール, メルマガ, 邮件, 郵件, 邮箱, 이메일, 메일",
  ],
  /** About a consent without being one: nothing in such a column says yes or no. */
  detail: [
    "url, urls, link, links, token, hash, uuid, guid, ip, ips, ip address, user agent, useragent, language, locale, id, ids, version, form, page, text, wording, source, quelle, method, methode, channel, by, notes, note, comment, comments, evidence, proof, lien, enlace, リンク, 链接, 링크, resubscribed, re subscribed, resubscribe, soft, rate",
  ],
  /** An opt-out of which this is told has happened. */
  evidence: [
    "reason, reasons, grund, gründe, motif, raison, motivo, razón, reden, orsak, årsag, syy, powód, причина, feedback, campaign, kampagne, campagne, campaña, campagna, 理由, 原因, 사유",
  ],
  /** Of something else, whatever its words: Baja is a city, and Spam a surname. */
  other: [
    "city, town, village, place, ort, stadt, wohnort, ville, ciudad, localidad, población, città, citta, comune, cidade, plaats, woonplaats, stad, by, kaupunki, miasto, město, oraș, şehir, город, місто, 市区町村, 市, 住所, 城市, 도시",
    "name, names, first name, last name, surname, family name, full name, nickname, vorname, nachname, name vorname, prénom, nom, nombre, apellido, apellidos, nome, cognome, sobrenome, voornaam, achternaam, förnamn, efternamn, fornavn, etternavn, etunimi, sukunimi, imię, nazwisko, имя, фамилия, 名前, 氏名, 姓, 名, 姓名, 이름",
    "company, organisation, organization, account, firma, société, entreprise, empresa, azienda, bedrijf, företag, yritys, 会社, 公司, 회사, street, address, region, province, county, country, land, pays, país, paese, title, job, position, product, item, sku, plan, topic, subject, notes, note, comment, comments, description, bemerkung, notizen, kommentar, remarque, commentaire, nota, notas, note, opmerking, 備考, 备注, 비고",
  ],
} satisfies Record<string, string[]>;
