/** Words of consent in Slovak. What each line means is said in `../words.ts`. */
export const slovak = {
  cells: {
    yes: "áno, pravda",
    no: "nie, nepravda, nikdy, nesúhlasí, nesúhlas",
    active: "aktívny, potvrdený, súhlasí, súhlas",
    subscribed: "prihlásený, prihlásená, odoberá, odoberateľ",
    gone: `odhlásený, odhlásená, odhlásené, neodoberá, už neodoberá, neprihlásený, čierna listina,
      súhlas odvolaný, odvolal súhlas, bez súhlasu`,
    notSubscribed: "neaktívny, nepotvrdený, čaká, zablokovaný, zmazaný, odmietnuté, zrušené",
  },
  names: {
    optIn: `súhlas, súhlas s marketingom, súhlas so zasielaním, marketingový súhlas, súhlas udelený,
      udelil súhlas, prihlásený, prihlásená, odoberateľ, odoberá newsletter`,
    optOut: `odhlásený, odhlásená, odhlásenie, dátum odhlásenia, neodoberá, neprihlásený, nesúhlas, nesúhlasí,
      bez súhlasu, súhlas odvolaný, odvolaný súhlas, odvolanie súhlasu, neposielať, nezasielať, nekontaktovať,
      čierna listina`,
    status: "stav, status, odber, stav odberu, stav súhlasu",
    around: "newsletter, newslettera, zoznam, kontakt, zákazník, osoba, dátum, čas, dňa, áno nie",
    reasons: "dôvod, príčina, kampaň",
    others: "mesto, meno, priezvisko, firma, ulica, krajina, poznámka",
  },
  hints: {
    anywhere: "súhlas, odber, odober, prihlás, odhlás, newsletter, zasielan, odvola, námietk, reklam",
    alone: "stop, zablokovaný, vylúčený, zmazaný, nie",
  },
  channels: {
    words: "telefón, hovor, mobil, list",
    email: "e mail",
  },
};
