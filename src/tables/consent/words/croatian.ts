/** Words of consent in Croatian. What each line means is said in `../words.ts`. */
export const croatian = {
  cells: {
    yes: "da, točno, istina",
    no: "ne, netočno, nikad",
    active: "aktivan, aktivna, potvrđen, pristao",
    subscribed: "pretplaćen, pretplaćena, prijavljen, prijavljena",
    gone: `odjavljen, odjavljena, odjava, nije pretplaćen, više nije pretplaćen, nepretplaćen,
      privola povučena, povučeno, bez privole, crna lista`,
    notSubscribed: "neaktivan, neaktivna, nepotvrđen, na čekanju, blokiran, obrisan, odbijeno",
  },
  names: {
    optIn: `privola, privola za marketing, privola dana, pristanak, suglasnost, suglasnost za marketing,
      pretplaćen, pretplaćena, prijavljen, prijavljena, prijavljen na newsletter`,
    optOut: `odjavljen, odjavljena, odjava, datum odjave, nije pretplaćen, nepretplaćen, nije prijavljen,
      bez privole, nema privole, privola povučena, povučena privola, bez pristanka, bez suglasnosti, ne slati,
      ne kontaktirati, crna lista`,
    status: "status, stanje, pretplata, status pretplate, stanje pretplate",
    around: "newsletter, e pošta, popis, lista, kontakt, kupac, osoba, datum, vrijeme",
    reasons: "razlog, kampanja",
    others: "grad, ime, prezime, tvrtka, ulica, država, napomena",
  },
  hints: {
    anywhere: "privol, pristan, suglasn, pretpla, odjav, prijavljen, newsletter, povuč, prigovor, reklam",
    alone: "stop, blokiran, isključen, obrisan, ne",
  },
  channels: {
    words: "telefon, poziv, mobitel",
    email: "e pošta",
  },
};
