/** Words of consent in Czech. What each line means is said in `../words.ts`. */
export const czech = {
  cells: {
    yes: "ano, pravda",
    no: "ne, nepravda, nikdy, nesouhlasí, nesouhlas",
    active: "aktivní, potvrzený, souhlasí, souhlas",
    subscribed: "přihlášen, přihlášený, přihlášena, odebírá, odběratel",
    gone: `odhlášen, odhlášený, odhlášená, odhlášena, odhlášeno, neodebírá, již neodebírá, nepřihlášen,
      černá listina, souhlas odvolán, odvolal souhlas, odvoláno, bez souhlasu`,
    notSubscribed: "neaktivní, nepotvrzený, čeká, zablokován, smazán, odmítnuto, zrušeno",
    aroundGone: "dne",
  },
  names: {
    optIn: `souhlas, souhlas s marketingem, souhlas se zasíláním, souhlas s newsletterem, souhlas udělen,
      udělil souhlas, marketingový souhlas, přihlášen, přihlášena, přihlášený, přihlášen k newsletteru,
      odběratel, odebírá, odebírá newsletter`,
    optOut: `odhlášen, odhlášena, odhlášený, odhlášeno, odhlášení, datum odhlášení, odhlášen z newsletteru,
      neodebírá, nepřihlášen, nesouhlas, nesouhlasí, bez souhlasu, souhlas odvolán, odvolaný souhlas,
      odvolání souhlasu, souhlas odebrán, neposílat, nezasílat, nekontaktovat, nemá zájem o newsletter,
      černá listina, na černé listině`,
    status: "stav, status, odběr, stav odběru, stav souhlasu, stav přihlášení",
    around:
      "newsletter, newsletteru, e mail, seznam, kontakt, zákazník, osoba, datum, čas, dne, gdpr, ano ne",
    reasons: "důvod, příčina, kampaň",
    others: "město, jméno, příjmení, firma, ulice, země, poznámka",
  },
  hints: {
    anywhere: `zákaz, dostávat, souhlas, odběr, odebír, přihláš, odhláš, newsletter, zasílání, odvolá,
      odvolán, námitk, reklam, obchodní sdělení`,
    alone: "stop, zablokován, vyloučen, smazán, ne",
    besideEmail: "ne, bez",
  },
  channels: {
    words: "telefon, hovor, mobil, dopis",
    email: "e mail",
  },
};
