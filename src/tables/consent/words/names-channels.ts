/**
 * Other ways to reach a person, and other things to consent to: a consent to these says nothing of e-mail.
 */
import type { WordTable } from "./languages.ts";

export const channelWords: WordTable = {
  english:
    "sms, mms, text message, text messages, texting, texts, phone, phones, telephone, call, calls, calling, mobile, cell, whatsapp, wechat, viber, telegram, messenger, push, web push, push notification, push notifications, fax, postal, postal mail, direct mail, robocall, robocalls",
  german: "telefon, telefonisch, anruf, anrufe, handy, post, postalisch, brief, briefpost",
  french: "téléphone, tél, appel, appels, courrier postal, texto",
  spanish: "teléfono, llamada, llamadas, correo postal, móvil",
  italian: "telefono, chiamata, chiamate, posta cartacea, cellulare",
  portuguese: "telefone, chamada, ligação, telemóvel, celular",
  dutch: "telefoon, telefonisch, bellen, gsm",
  swedish: "telefon, samtal, mobil, brev",
  danish: "telefon, opkald, mobil, brev",
  norwegian: "telefon, samtale, mobil, brev",
  finnish: "puhelin, soitto, matkapuhelin, tekstiviesti, kirje",
  polish: "telefon, telefoniczny, rozmowa, komórka, list papierowy",
  czech: "telefon, hovor, mobil, dopis",
  slovak: "telefón, hovor, mobil, list",
  hungarian: "telefon, hívás, mobil, levél",
  romanian: "telefon, apel, mobil",
  bulgarian: "телефон, обаждане, смс",
  croatian: "telefon, poziv, mobitel",
  slovenian: "telefon, klic, mobitel",
  greek: "τηλέφωνο, κλήση, κινητό",
  turkish: "telefon, arama, cep",
  russian: "телефон, звонок, звонки, смс",
  ukrainian: "телефон, дзвінок, дзвінки, смс",
  lithuanian: "telefonas, skambutis",
  latvian: "tālrunis, zvans",
  estonian: "telefon, kõne",
  japanese: "電話, 携帯, ショートメール, 郵送, はがき, ファックス, fax",
  chinese: "短信, 电话, 電話, 微信, 简讯, 簡訊",
  korean: "문자, 전화, 카카오, 푸시, 우편",
  arabic: "هاتف, الهاتف, رسائل نصية",
  hebrew: "טלפון, מסרון",
  vietnamese: "điện thoại, tin nhắn",
  indonesian: "telepon, ponsel",
};

/** Names of consent that are about another channel by themselves. */
export const channelNames: string[] =
  "do not call, do not phone, do not text, do not fax, do not sms, dont call, no calls, no phone, do not allow phone calls, do not allow faxes, do not allow postal mails, do not allow phone, do not allow fax, consent to track, tracking consent, cookie consent, cookies consent, nicht anrufen, keine anrufe, ne pas appeler, no llamar, non chiamare, não ligar, niet bellen".split(
    ", ",
  );

/** One of these in a name: it speaks of e-mail too. */
export const emailWords: WordTable = {
  english:
    "email, emails, e mail, e mails, mail, mails, newsletter, newsletters, mailing, mailings, all channels",
  german: "newsletter, rundmail",
  french: "courriel, courriels, infolettre",
  spanish: "correo, correos, correo electrónico, boletín",
  italian: "posta elettronica",
  portuguese: "correio eletrônico, boletim",
  dutch: "nieuwsbrief",
  swedish: "epost, e post, mejl, nyhetsbrev",
  danish: "nyhedsbrev",
  norwegian: "epost, e post, nyhetsbrev",
  finnish: "sähköposti, uutiskirje",
  polish: "poczta",
  czech: "e mail",
  slovak: "e mail",
  hungarian: "hírlevél",
  romanian: "e mail",
  bulgarian: "имейл",
  croatian: "e pošta",
  slovenian: "e pošta",
  greek: "ηλεκτρονικό ταχυδρομείο",
  turkish: "eposta, e posta, bülten",
  russian: "почта, почте, почты, рассылка, рассылку",
  ukrainian: "пошта, пошті, розсилка, розсилку",
  lithuanian: "el paštas",
  latvian: "e pasts",
  estonian: "e post",
  japanese: "メール, メルマガ",
  chinese: "邮件, 郵件, 邮箱",
  korean: "이메일, 메일",
  arabic: "البريد",
  hebrew: "דואל, דיוור",
  vietnamese: "thư điện tử, bản tin",
  indonesian: "surel",
};
