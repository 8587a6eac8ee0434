/** What a cell says, in the languages of western and northern Europe. */
import type { CellWords, Language } from "./languages.ts";

export const westernCells = {
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
} satisfies Partial<Record<Language, CellWords>>;
