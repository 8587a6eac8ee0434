/** Words of consent in Slovenian. What each line means is said in `../words.ts`. */
export const slovenian = {
  cells: {
    yes: "da, drži",
    no: "ne, nikoli",
    active: "aktiven, aktivna, potrjen",
    subscribed: "naročen, naročena, prijavljen, prijavljena",
    gone: `odjavljen, odjavljena, odjava, ni naročen, ni več naročen, soglasje preklicano, preklicano,
      brez soglasja, črna lista`,
    notSubscribed: "neaktiven, neaktivna, nepotrjen, čaka, blokiran, izbrisan, zavrnjeno",
  },
  names: {
    optIn: `soglasje, soglasje za trženje, dano soglasje, privolitev, naročen, naročena, naročnik, prijavljen,
      prijavljena, naročen na novice`,
    optOut: `odjavljen, odjavljena, odjava, datum odjave, ni naročen, ni prijavljen, brez soglasja,
      ni soglasja, soglasje umaknjeno, soglasje preklicano, preklic soglasja, ne pošiljaj, ne kontaktiraj,
      črna lista`,
    status: "status, stanje, naročnina, stanje naročnine, status naročnine",
    around: "novice, e pošta, seznam, stik, stranka, oseba, datum, čas",
    reasons: "razlog, kampanja",
    others: "mesto, kraj, ime, priimek, podjetje, ulica, država, opomba",
  },
  hints: {
    anywhere: "soglas, privolit, naročen, naročn, odjav, prijavljen, umakn, preklic, ugovor, oglaš",
    alone: "stop, blokiran, izključen, izbrisan, ne",
  },
  channels: {
    words: "telefon, klic, mobitel",
    email: "e pošta",
  },
};
