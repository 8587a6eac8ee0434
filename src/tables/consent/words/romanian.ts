/** Words of consent in Romanian. What each line means is said in `../words.ts`. */
export const romanian = {
  cells: {
    yes: "da, adevărat",
    no: "nu, fals, niciodată",
    active: "activ, confirmat, acceptat",
    subscribed: "abonat, abonată, înscris",
    gone: `dezabonat, dezabonată, dezabonare, neabonat, nu este abonat, nu mai este abonat,
      consimțământ retras, retras, fără consimțământ, lista neagră`,
    notSubscribed: "inactiv, neconfirmat, blocat, șters, refuzat, anulat, în așteptare",
  },
  names: {
    optIn: `consimțământ, consimțământ marketing, acord marketing, acord email, acord newsletter, abonat,
      abonată, abonat la newsletter, înscris, este abonat`,
    optOut: `dezabonat, dezabonată, dezabonare, data dezabonării, neabonat, nu este abonat, fără consimțământ,
      consimțământ retras, retragere consimțământ, fără acord, nu trimite, nu contacta, nu dorește newsletter,
      lista neagră`,
    status: "stare, status, statut, abonament, starea abonării, stare abonare, status abonare",
    around: "newsletter, listă, contact, client, persoană, data, ora, la data, da nu",
    reasons: "motiv, motivul, campanie",
    others: "oraș, nume, prenume, companie, stradă, țară, observații",
  },
  hints: {
    anywhere: "consimț, abonat, dezabon, abonament, newsletter, acord, retras, retrage, publicitate, opoziți",
    alone: "stop, blocat, exclus, șters, nu",
    besideEmail: "fără, nu",
  },
  channels: {
    words: "telefon, apel, mobil",
    email: "e mail",
  },
};
