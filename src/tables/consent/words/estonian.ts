/** Words of consent in Estonian. What each line means is said in `../words.ts`. */
export const estonian = {
  cells: {
    yes: "jah",
    no: "ei, mitte kunagi",
    active: "aktiivne, kinnitatud, nõus",
    subscribed: "tellija, tellib, liitunud",
    gone: `loobunud, loobus, tellimus tühistatud, ei telli, ei telli enam, nõusolek tühistatud,
      nõusolek tagasi võetud, tagasi võetud, nõusolekuta, ei nõustu, must nimekiri`,
    notSubscribed: "mitteaktiivne, kinnitamata, ootel, blokeeritud, kustutatud, keeldunud",
  },
  names: {
    optIn: `nõusolek, nõusolek antud, turundusnõusolek, on nõustunud, tellija, tellib uudiskirja,
      liitunud uudiskirjaga`,
    optOut: `loobunud, loobunud uudiskirjast, tellimusest loobunud, tellimus tühistatud, ei telli,
      nõusolekuta, nõusolek puudub, nõusolek tagasi võetud, nõusolek tühistatud, ei nõustu, mitte saata,
      ära saada, must nimekiri`,
    status: "olek, staatus, seisund, tellimus, tellimuse olek, nõusoleku olek",
    around: "uudiskiri, uudiskirja, e post, loend, kontakt, klient, kuupäev, aeg",
    reasons: "põhjus, kampaania",
    others: "linn, nimi, eesnimi, perenimi, ettevõte, tänav, märkus",
  },
  hints: {
    anywhere: "nõusolek, nõustu, uudiskiri, uudiskirja, tellija, loobu, tühista, turundus, reklaam",
    alone: "stopp, blokeeritud, kustutatud, ei",
  },
  channels: {
    words: "telefon, kõne",
    email: "e post",
  },
};
