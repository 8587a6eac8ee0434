/** Words of consent in Norwegian. What each line means is said in `../words.ts`. */
export const norwegian = {
  cells: {
    yes: "ja, j, sant",
    no: "nei, usant, aldri",
    active: "aktiv, bekreftet, godkjent, samtykker",
    subscribed: "påmeldt, abonnent, abonnerer",
    gone: `avmeldt, frameldt, ikke påmeldt, ikke lenger påmeldt, ingen nyhetsbrev, abonnerer ikke,
      samtykke trukket, trukket tilbake, tilbakekalt, ikke samtykke, svartelistet, reservert`,
    notSubscribed: "inaktiv, ikke aktiv, venter, blokkert, slettet, avvist, oppsagt",
    goneOrName: "reservert",
  },
  names: {
    optIn: `samtykke, har gitt samtykke, samtykke gitt, markedsføringssamtykke, påmeldt, påmeldt nyhetsbrev,
      abonnerer, ønsker nyhetsbrev`,
    optOut: `avmeldt, avmelding, avmeldt nyhetsbrev, frameldt, ikke påmeldt, intet samtykke, ikke samtykke,
      ikke samtykket, uten samtykke, samtykke trukket, samtykke trukket tilbake, trukket samtykke,
      ingen nyhetsbrev, intet nyhetsbrev, ingen e post, ingen epost, ingen markedsføring, skal ikke kontaktes,
      ikke kontakt, svartelistet, reservert mot markedsføring`,
    status: "status, tilstand, abonnement, påmelding, påmeldingsstatus, abonnementsstatus, samtykkestatus",
    around: "nyhetsbrev, e post, epost, liste, kontakt, kunde, person, dato, tidspunkt, den, ja nei",
    reasons: "årsak, begrunnelse, kampanje",
    others: "by, navn, fornavn, etternavn, firma, gate, merknad",
  },
  hints: {
    anywhere: `motta, forbud, frabed, samtyk, påmeld, avmeld, nyhetsbrev, abonn, markedsfør, reklame,
      tilbakekal, trukket tilbake, tillatelse, reservert`,
    alone: "stopp, blokkert, utelukket, slettet, tillatt, nei",
    besideEmail: "ingen, ikke",
    email: "epost, e post",
  },
  channels: {
    words: "telefon, samtale, mobil, brev",
    email: "epost, e post, nyhetsbrev",
  },
};
