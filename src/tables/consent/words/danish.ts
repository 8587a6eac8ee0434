/** Words of consent in Danish. What each line means is said in `../words.ts`. */
export const danish = {
  cells: {
    yes: "ja, j, sand",
    no: "nej, falsk, aldrig",
    active: "aktiv, bekræftet, godkendt, samtykker",
    subscribed: "tilmeldt, abonnent, abonnerer",
    gone: `afmeldt, frameldt, ikke tilmeldt, ikke længere tilmeldt, ingen nyhedsbrev, intet nyhedsbrev,
      abonnerer ikke, samtykke trukket tilbage, trukket tilbage, tilbagekaldt, intet samtykke, sortlistet`,
    notSubscribed: "inaktiv, ikke aktiv, afventer, blokeret, slettet, afvist, opsagt",
  },
  names: {
    optIn: `samtykke, har givet samtykke, samtykke givet, markedsføringssamtykke, markedsføringstilladelse,
      nyhedsbrevstilladelse, tilmeldt, tilmeldt nyhedsbrev, abonnerer, ønsker nyhedsbrev`,
    optOut: `afmeldt, afmelding, afmeldt nyhedsbrev, afmeldingsdato, frameldt, ikke tilmeldt, intet samtykke,
      ikke samtykke, uden samtykke, samtykke trukket tilbage, samtykke tilbagetrukket, tilbagekaldt samtykke,
      ingen nyhedsbrev, intet nyhedsbrev, ingen e mail, ingen mail, ingen mails, ingen markedsføring,
      må ikke kontaktes, ikke kontakt, sortlistet, reklamebeskyttet`,
    status: "status, tilstand, abonnement, tilmelding, tilmeldingsstatus, abonnementsstatus, samtykkestatus",
    around: "nyhedsbrev, nyhedsbreve, liste, kontakt, kunde, person, dato, tidspunkt, den, ja nej",
    reasons: "årsag, begrundelse, kampagne",
    others: "by, navn, fornavn, efternavn, firma, vej, bemærkning",
  },
  hints: {
    anywhere: `modtag, forbud, frabed, samtyk, tilmeld, afmeld, frameld, nyhedsbrev, abonn, markedsfør,
      reklame, tilbagekald, tilbagetruk, tilladelse`,
    alone: "stop, blokeret, udelukket, slettet, tilladt, nej",
    besideEmail: "ingen, intet, ikke",
  },
  channels: {
    words: "telefon, opkald, mobil, brev",
    email: "nyhedsbrev",
  },
};
