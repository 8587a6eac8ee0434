/**
 * Names of columns whose cells say what has become of a person. Whole
 * phrases, without the words of `names-around.ts`.
 */
import type { WordTable } from "./languages.ts";

export const statusNames: WordTable = {
  english:
    "status, state, subscription, subscription status, subscription state, subscribe status, opt in status, opt in state, opt out status, consent status, permission status, unsubscribe status, stop status, global status, delivery status, preference, preferences",
  german:
    "status, zustand, abonnement, abo, abostatus, anmeldestatus, einwilligungsstatus, newsletterstatus, emailstatus, mailstatus, versandstatus, kontaktstatus",
  french:
    "statut, état, abonnement, inscription, statut abonnement, statut d'abonnement, statut d'inscription, statut inscription, statut du consentement",
  spanish:
    "estado, estatus, situación, suscripción, estado de suscripción, estado de la suscripción, estado suscripción",
  italian:
    "stato, situazione, iscrizione, abbonamento, stato iscrizione, stato di iscrizione, stato dell'iscrizione, stato consenso",
  portuguese:
    "estado, situação, status, inscrição, assinatura, status da inscrição, situação da inscrição, estado da inscrição, status de inscrição",
  dutch:
    "status, toestand, abonnement, inschrijving, inschrijfstatus, inschrijvingsstatus, abonnementsstatus, aanmeldstatus",
  swedish: "status, tillstånd, prenumeration, prenumerationsstatus, samtyckesstatus",
  danish: "status, tilstand, abonnement, tilmelding, tilmeldingsstatus, abonnementsstatus, samtykkestatus",
  norwegian: "status, tilstand, abonnement, påmelding, påmeldingsstatus, abonnementsstatus, samtykkestatus",
  finnish: "tila, tilanne, tilaus, tilauksen tila, tilaustila, uutiskirjeen tila",
  polish: "status, stan, subskrypcja, status subskrypcji, stan subskrypcji, status zgody",
  czech: "stav, status, odběr, stav odběru, stav souhlasu, stav přihlášení",
  slovak: "stav, status, odber, stav odberu, stav súhlasu",
  hungarian:
    "állapot, státusz, feliratkozás, feliratkozás állapota, feliratkozási állapot, feliratkozás státusza",
  romanian: "stare, status, statut, abonament, starea abonării, stare abonare, status abonare",
  bulgarian: "статус, състояние, абонамент, статус на абонамента",
  croatian: "status, stanje, pretplata, status pretplate, stanje pretplate",
  slovenian: "status, stanje, naročnina, stanje naročnine, status naročnine",
  greek: "κατάσταση, συνδρομή, κατάσταση συνδρομής, κατάσταση εγγραφής",
  turkish: "durum, abonelik, abonelik durumu, izin durumu, onay durumu, üyelik durumu",
  russian:
    "статус, состояние, подписка, статус подписки, состояние подписки, статус согласия, статус рассылки",
  ukrainian: "статус, стан, підписка, статус підписки, стан підписки, статус згоди",
  lithuanian: "būsena, statusas, prenumerata, prenumeratos būsena, sutikimo būsena",
  latvian: "statuss, stāvoklis, abonements, abonementa statuss, piekrišanas statuss",
  estonian: "olek, staatus, seisund, tellimus, tellimuse olek, nõusoleku olek",
  japanese:
    "状態, 状況, ステータス, 区分, 配信状態, 配信状況, 配信ステータス, 配信区分, 購読状態, 購読状況, 購読ステータス, 受信状態, 登録状態, 登録状況, 会員状態, 会員ステータス",
  chinese: "状态, 狀態, 订阅状态, 訂閱狀態, 邮件状态, 郵件狀態, 同意状态, 同意狀態, 接收状态, 接收狀態",
  korean: "상태, 구독상태, 구독 상태, 수신상태, 수신 상태, 동의상태, 동의 상태",
  arabic: "الحالة, حالة, حالة الاشتراك, الاشتراك",
  hebrew: "סטטוס, מצב, סטטוס מנוי, סטטוס דיוור, סטטוס הרשמה",
  vietnamese: "trạng thái, tình trạng, trạng thái đăng ký, tình trạng đăng ký",
  indonesian: "status, keadaan, status langganan, langganan, status berlangganan, status persetujuan",
};
