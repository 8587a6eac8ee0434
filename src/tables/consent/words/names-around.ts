/**
 * Words that may stand before or behind a phrase of the other tables and say nothing. No word may be here
 * that is, or can be taken for, a negation, an end or a prefix of one (`no`, `un`, `des`, `in`, `ab`, `a`,
 * `de`): a name that was written apart would be read the wrong way round.
 */
import type { WordTable } from "./languages.ts";

export const aroundWords: WordTable = {
  english: `email, emails, e mail, e mails, mail, mails, mailing, mailings, newsletter, newsletters, news, list, lists, mailing list, contact, contacts, person, user, customer, member, subscriber, marketing,
    promotional, promotions, gdpr, campaign, campaigns, communication, communications, date, dates, day, time, datetime, timestamp, at, on, since, to, the, for, from, our, is, has, have, been, flag, field,
    boolean, yes no, y n, number, of, via email, by email, current`,
  german:
    "newsletter, newslettern, e mail, e mails, liste, kontakt, kunde, kunden, person, am, datum, zeitpunkt, uhrzeit, seit, zum, vom, für, zur, den, der, die, das, dsgvo, werbung, flag, nummer, ja nein, ist, hat",
  french:
    "courriel, courriels, liste, contact, client, date, heure, le, la, les, aux, rgpd, oui non, infolettre, lettre d'information, horodatage",
  spanish:
    "correo, correos, correo electrónico, boletín, lista, contacto, cliente, persona, fecha, hora, el, rgpd, sí no, comunicaciones",
  italian: "posta elettronica, lista, contatto, cliente, persona, data, ora, il, gdpr, sì no",
  portuguese:
    "correio eletrônico, correio eletrónico, boletim, lista, contato, contacto, cliente, pessoa, data, hora, em, lgpd, rgpd, sim não",
  dutch:
    "nieuwsbrief, nieuwsbrieven, e mailadres, lijst, contact, klant, persoon, datum, tijdstip, op, voor, avg, ja nee",
  swedish: "nyhetsbrev, e post, epost, mejl, lista, kontakt, kund, person, datum, tidpunkt, ja nej",
  danish: "nyhedsbrev, nyhedsbreve, liste, kontakt, kunde, person, dato, tidspunkt, den, ja nej",
  norwegian: "nyhetsbrev, e post, epost, liste, kontakt, kunde, person, dato, tidspunkt, den, ja nei",
  finnish:
    "uutiskirje, uutiskirjeet, sähköposti, lista, yhteystieto, asiakas, henkilö, pvm, päivä, päivämäärä, aika",
  polish:
    "newsletter, newslettera, poczta, lista, kontakt, klient, osoba, data, godzina, dnia, rodo, tak nie",
  czech: "newsletter, newsletteru, e mail, seznam, kontakt, zákazník, osoba, datum, čas, dne, gdpr, ano ne",
  slovak: "newsletter, newslettera, zoznam, kontakt, zákazník, osoba, dátum, čas, dňa, áno nie",
  hungarian: "hírlevél, e mail, lista, kapcsolat, ügyfél, személy, dátum, dátuma, időpont, ideje",
  romanian: "newsletter, listă, contact, client, persoană, data, ora, la data, da nu",
  bulgarian: "бюлетин, имейл, имейли, списък, контакт, клиент, дата, час",
  croatian: "newsletter, e pošta, popis, lista, kontakt, kupac, osoba, datum, vrijeme",
  slovenian: "novice, e pošta, seznam, stik, stranka, oseba, datum, čas",
  greek: "ενημερωτικό δελτίο, ηλεκτρονικό ταχυδρομείο, λίστα, επαφή, πελάτης, ημερομηνία, ώρα",
  turkish: "bülten, eposta, e posta, liste, kişi, müşteri, tarih, tarihi, zaman, zamanı, kvkk, evet hayır",
  russian:
    "рассылка, рассылки, рассылку, почта, почты, эл почта, электронная почта, список, контакт, клиент, дата, время, email рассылка",
  ukrainian: "розсилка, розсилки, розсилку, пошта, ел пошта, список, контакт, клієнт, дата, час",
  lithuanian: "naujienlaiškis, naujienlaiškio, el paštas, sąrašas, kontaktas, klientas, data, laikas",
  latvian: "jaunumi, jaunumu, e pasts, saraksts, kontakts, klients, datums, laiks",
  estonian: "uudiskiri, uudiskirja, e post, loend, kontakt, klient, kuupäev, aeg",
  japanese:
    "メール, eメール, メルマガ, メールマガジン, ニュースレター, 電子メール, 電子メールでの, メールの, リスト, 連絡先, 顧客, お客様, 日, 日付, 日時, 年月日, 時刻, の, 有無, フラグ, 区分, について, 案内, ご案内, 状況, 情報",
  chinese:
    "邮件, 郵件, 电子邮件, 電子郵件, 邮箱, 新闻通讯, 電子報, 列表, 联系人, 聯絡人, 客户, 客戶, 日期, 时间, 時間, 是否, 标志, 标记",
  korean: "이메일, 메일, 뉴스레터, 목록, 연락처, 고객, 일자, 날짜, 일시, 시간, 여부",
  arabic: "البريد, البريد الإلكتروني, النشرة, النشرة البريدية, قائمة, جهة اتصال, تاريخ, التاريخ, وقت",
  hebrew: "דואר, דואל, דיוור, ניוזלטר, רשימה, איש קשר, לקוח, תאריך, שעה",
  vietnamese: "thư điện tử, bản tin, danh sách, liên hệ, khách hàng, ngày, thời gian",
  indonesian: "surel, buletin, daftar, kontak, pelanggan, tanggal, waktu",
};

/** Around a name of an opt-out alone: that there is a reason for it says that it has happened. */
export const reasonWords: WordTable = {
  english: "reason, reasons, reason for, feedback, campaign title, campaign id",
  german: "grund, gründe, grund der, kampagne",
  french: "motif, motifs, motif de, raison, raisons, campagne",
  spanish: "motivo, motivos, motivo de, razón, campaña",
  italian: "motivo, motivi, motivo di, ragione, campagna",
  portuguese: "motivo, motivos, motivo do, motivo da, razão, campanha",
  dutch: "reden, redenen, reden van, campagne",
  swedish: "orsak, anledning, kampanj",
  danish: "årsag, begrundelse, kampagne",
  norwegian: "årsak, begrunnelse, kampanje",
  finnish: "syy, peruste, kampanja",
  polish: "powód, przyczyna, kampania",
  czech: "důvod, příčina, kampaň",
  slovak: "dôvod, príčina, kampaň",
  hungarian: "oka, indok, kampány",
  romanian: "motiv, motivul, campanie",
  bulgarian: "причина, кампания",
  croatian: "razlog, kampanja",
  slovenian: "razlog, kampanja",
  greek: "λόγος, αιτία, καμπάνια",
  turkish: "neden, nedeni, sebep, sebebi, kampanya",
  russian: "причина, кампания",
  ukrainian: "причина, кампанія",
  lithuanian: "priežastis, kampanija",
  latvian: "iemesls, kampaņa",
  estonian: "põhjus, kampaania",
  japanese: "理由, 原因",
  chinese: "原因, 理由",
  korean: "사유, 이유",
  arabic: "سبب",
  hebrew: "סיבה, סיבת",
  vietnamese: "lý do",
  indonesian: "alasan",
};
