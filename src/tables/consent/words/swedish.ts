/** Words of consent in Swedish. What each line means is said in `../words.ts`. */
export const swedish = {
  cells: {
    yes: "ja, j, sant, på",
    no: "nej, falskt, av, aldrig",
    active: "aktiv, bekräftad, godkänd, samtycker, samtycke",
    subscribed: "prenumererar, prenumerant, anmäld",
    gone: `avregistrerad, avprenumererad, avprenumererat, avanmäld, avslutat prenumeration, prenumererar inte,
      prenumererar ej, prenumererar inte längre, ej prenumerant, inte prenumerant, spärrad för utskick,
      återkallad, återkallat, samtycke återkallat, inget samtycke, ej samtycke, svartlistad`,
    notSubscribed: "inaktiv, ej aktiv, obekräftad, väntar, blockerad, borttagen, spärrad, nekad, avslutad",
  },
  names: {
    optIn: `samtycke, har samtyckt, samtycker, marknadsföringssamtycke, prenumererar, prenumerant,
      prenumererar på nyhetsbrev, vill ha nyhetsbrev, godkänner utskick`,
    optOut: `avregistrerad, avregistrering, avregistrerades, avprenumererad, avprenumererat, avprenumeration,
      avanmäld, avanmälan, ej prenumerant, prenumererar inte, prenumererar ej, inga utskick, ej utskick,
      inga mejl, ingen e post, inte kontakta, kontakta inte, inget samtycke, ej samtycke, utan samtycke,
      samtycke återkallat, återkallat samtycke, spärrad för utskick, reklamspärr, nix`,
    status: "status, tillstånd, prenumeration, prenumerationsstatus, samtyckesstatus",
    around: "nyhetsbrev, e post, epost, mejl, lista, kontakt, kund, person, datum, tidpunkt, ja nej",
    reasons: "orsak, anledning, kampanj",
    others: "stad, ort, namn, förnamn, efternamn, företag, gata, anteckning",
  },
  hints: {
    anywhere: `ta emot, förbud, samtyck, prenumer, nyhetsbrev, utskick, reklam, marknadsför, avregistr,
      avanmäl, anmäld, återkall, spärr, medgiv, godkänn`,
    alone: "stopp, spärrad, spärr, blockerad, utesluten, borttagen, tillåten, nej",
    besideEmail: "inga, ej, inte, ingen",
    email: "epost, e post, mejl",
  },
  channels: {
    words: "telefon, samtal, mobil, brev",
    email: "epost, e post, mejl, nyhetsbrev",
  },
};
