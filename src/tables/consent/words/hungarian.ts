/** Words of consent in Hungarian. What each line means is said in `../words.ts`. */
export const hungarian = {
  cells: {
    yes: "igen, i, igaz",
    no: "nem, hamis, soha",
    active: "aktív, hozzájárult, megerősített",
    subscribed: "feliratkozott, feliratkozva",
    gone: `leiratkozott, leiratkozva, leiratkozás, nem feliratkozott, már nem feliratkozott, tiltólista,
      tiltólistán, visszavont, visszavonva, hozzájárulás visszavonva, nincs hozzájárulás`,
    notSubscribed: "inaktív, megerősítetlen, törölt, letiltva, elutasított, függőben",
  },
  names: {
    optIn: `hozzájárulás, hozzájárult, marketing hozzájárulás, hírlevél hozzájárulás, feliratkozott,
      feliratkozva, feliratkozó, hírlevélre feliratkozott, feliratkozás dátuma`,
    optOut: `leiratkozott, leiratkozva, leiratkozás, leiratkozás dátuma, nem feliratkozott,
      nincs feliratkozva, nem járult hozzá, nincs hozzájárulás, hozzájárulás visszavonva,
      visszavont hozzájárulás, visszavonta a hozzájárulást, ne küldjünk, nem küldhető, nem kér hírlevelet,
      tiltólista, tiltólistán, tiltólistás`,
    status:
      "állapot, státusz, feliratkozás, feliratkozás állapota, feliratkozási állapot, feliratkozás státusza",
    around: "hírlevél, e mail, lista, kapcsolat, ügyfél, személy, dátum, dátuma, időpont, ideje",
    reasons: "oka, indok, kampány",
    others: "város, név, keresztnév, vezetéknév, cég, utca, ország, megjegyzés",
  },
  hints: {
    anywhere: "hozzájárul, feliratkoz, leiratkoz, hírlevél, visszavon, tiltó, tiltakoz, reklám, beleegyez",
    alone: "stop, tiltás, tiltva, letiltva, törölt, kizárt, nem",
    besideEmail: "nem",
  },
  channels: {
    words: "telefon, hívás, mobil, levél",
    email: "hírlevél",
  },
};
