/** Words of consent in Lithuanian. What each line means is said in `../words.ts`. */
export const lithuanian = {
  cells: {
    yes: "taip",
    no: "ne, niekada",
    active: "aktyvus, aktyvi, patvirtinta, sutinka, sutiko",
    subscribed: "prenumeruoja, prenumeratorius, užsiprenumeravo",
    gone: `atsisakė, atsisakė prenumeratos, neprenumeruoja, nebeprenumeruoja, sutikimas atšauktas, atšaukta,
      be sutikimo, nesutinka, juodasis sąrašas`,
    notSubscribed: "neaktyvus, neaktyvi, nepatvirtinta, laukiama, užblokuotas, ištrintas, atmesta",
  },
  names: {
    optIn: `sutikimas, sutikimas gauti naujienlaiškį, sutiko, duotas sutikimas, prenumeruoja, prenumeratorius,
      užsiprenumeravo`,
    optOut: `atsisakė, atsisakė naujienlaiškio, atsisakymas, atsisakė prenumeratos, neprenumeruoja, nesutinka,
      nesutiko, be sutikimo, nėra sutikimo, sutikimas atšauktas, atšauktas sutikimas, nesiųsti,
      juodasis sąrašas`,
    status: "būsena, statusas, prenumerata, prenumeratos būsena, sutikimo būsena",
    around: "naujienlaiškis, naujienlaiškio, el paštas, sąrašas, kontaktas, klientas, data, laikas",
    reasons: "priežastis, kampanija",
    others: "miestas, vardas, pavardė, įmonė, gatvė, pastaba",
  },
  hints: {
    anywhere: "sutik, prenumer, naujienlaišk, atsisak, atšauk, reklam",
    alone: "stop, užblokuotas, pašalintas, ne",
  },
  channels: {
    words: "telefonas, skambutis",
    email: "el paštas",
  },
};
